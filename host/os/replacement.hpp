// SPDX-License-Identifier: Apache-2.0
// replacement: replaces a file as a whole: readers find the old or the new text, whatever happens meanwhile.
#pragma once
#include <string>
#include <string_view>
#include <system_error>

#include "base/namespaces.hpp"
#include "os/file.hpp"

namespace clweave::os {

// What becomes of a symbolic link that has the name.
enum class Links {
  followed,  // a user's, who put the file elsewhere
  replaced   // of a name that we made up, such as X.csv.running: only somebody else can have put it there
};

// A new file beside another, whose name it takes in the end. Nobody else made it and no link leads elsewhere
// (O_EXCL), as in a folder that others may write. Without an end it is removed.
class Replacement {
 public:
  // Creates it beside `path` with that file's permissions. A path that is no regular file,
  // such as /dev/stdout, is written itself. Throws `io`.
  explicit Replacement(const std::string& path, Links = Links::followed);
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  // Where to write until the end.
  const std::string& path() const { return part_; }

  // Writes the whole text. Throws `io`.
  void write(std::string_view text);
  // Ends it. Throws `io`.
  void commit();

 private:
  [[noreturn]] void fail(std::error_code) const;
  void remove_part() const;

  std::string target_, part_;
  OutputFile file_;
};

// Does all of it. Throws `io`.
void replace_file(const std::string& path, std::string_view text, Links = Links::followed);

}  // namespace clweave::os
