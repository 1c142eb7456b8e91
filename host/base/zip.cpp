// SPDX-License-Identifier: Apache-2.0
#include "base/zip.hpp"

#include <fmt/format.h>
#include <zip.h>

#include <filesystem>
#include <memory>

#include "base/error.hpp"

namespace clweave {

namespace fs = std::filesystem;

namespace {

// Without what was done to it, where nobody closed it.
struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, Discard>;

Archive opened(const std::string& path, int flags, Kind kind, const char* doing) {
  int code = 0;
  Archive archive(zip_open(path.c_str(), flags, &code));
  if (archive) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string why = zip_error_strerror(&error);
  zip_error_fini(&error);
  throw Error(kind, fmt::format("cannot {} {}: {}", doing, path, why));
}

[[noreturn]] void fail(const std::string& path, zip_t* archive, const char* doing) {
  throw Error(Kind::io, fmt::format("cannot {} {}: {}", doing, path, zip_strerror(archive)));
}

}  // namespace

void check_zip(const std::string& path) {
  std::error_code none;
  if (fs::exists(path, none) && fs::file_size(path, none) > 0)
    opened(path, ZIP_RDONLY, Kind::usage, "replace what is no archive, choose another name than");
}

void write_zip(const std::string& path, const std::vector<ZipEntry>& entries) {
  check_zip(path);
  std::error_code none;
  if (const fs::path folder = fs::path(path).parent_path(); !folder.empty())
    fs::create_directories(folder, none);
  Archive archive = opened(path, ZIP_CREATE | ZIP_TRUNCATE, Kind::io, "write");
  for (const auto& entry : entries) {
    zip_source_t* source = zip_source_buffer(archive.get(), entry.text.data(), entry.text.size(), 0);
    if (source == nullptr) fail(path, archive.get(), "write");
    if (zip_file_add(archive.get(), entry.name.c_str(), source, ZIP_FL_ENC_UTF_8) >= 0) continue;
    zip_source_free(source);
    fail(path, archive.get(), "write");
  }
  if (zip_close(archive.get()) != 0) fail(path, archive.get(), "write");
  static_cast<void>(archive.release());  // closing freed it
}

std::vector<ZipEntry> read_zip(const std::string& path, std::string_view ending) {
  constexpr zip_uint64_t most_bytes = zip_uint64_t{4} << 30;
  const Archive archive = opened(path, ZIP_RDONLY | ZIP_CHECKCONS, Kind::io, "read");
  std::vector<ZipEntry> out;
  zip_uint64_t bytes = 0;
  const auto count = static_cast<zip_uint64_t>(zip_get_num_entries(archive.get(), 0));
  for (zip_uint64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    if (zip_stat_index(archive.get(), i, 0, &stat) != 0) fail(path, archive.get(), "read");
    const std::string name = stat.name;
    if (!name.ends_with(ending) || name.find_first_of("/\\") != std::string::npos) continue;
    bytes += stat.size;
    if (bytes > most_bytes) throw Error(Kind::io, path + " unpacks to more than 4 GiB");
    ZipEntry& entry = out.emplace_back(ZipEntry{name, std::string(stat.size, '\0')});
    zip_file_t* file = zip_fopen_index(archive.get(), i, 0);
    if (file == nullptr) fail(path, archive.get(), "read");
    const zip_int64_t got = zip_fread(file, entry.text.data(), stat.size);
    const int code = zip_fclose(file);
    if (code != 0 || got < 0 || static_cast<zip_uint64_t>(got) != stat.size)
      throw Error(Kind::io, fmt::format("cannot read {} of {}: it is broken", name, path));
  }
  return out;
}

}  // namespace clweave
