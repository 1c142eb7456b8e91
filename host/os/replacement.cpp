// SPDX-License-Identifier: Apache-2.0
#include "os/replacement.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.hpp"
#include "base/path.hpp"
#include "os/unseen_number.hpp"

namespace clweave::os {

namespace fs = std::filesystem;

Replacement::Replacement(const std::string& path, Links links)
    : target_(links == Links::followed ? behind_links(path) : path), part_(target_) {
  std::error_code error;
  const auto there = fs::symlink_status(target_, error);
  error.clear();
  if (fs::exists(there) && !fs::is_regular_file(there) && !fs::is_symlink(there)) {
    file_ = OutputFile(target_, OutputFile::Mode::existing, error);
    if (error) fail(error);
    return;
  }
  constexpr int tries = 100;
  for (int i = 0; i < tries && !file_; ++i) {
    error.clear();
    part_ = fmt::format("{}.{:08x}.part", target_, unseen_number());
    file_ = OutputFile(part_, OutputFile::Mode::fresh, error);
    if (error && error != std::errc::file_exists) break;
  }
  if (!file_) fail(error);
  // Where that is not allowed the new file has the usual permissions.
  if (fs::is_regular_file(there)) file_.set_permissions(there.permissions() & fs::perms(0777));
}

Replacement::~Replacement() {
  if (file_) remove_part();
}

void Replacement::remove_part() const {
  std::error_code ignored;
  if (part_ != target_) fs::remove(part_, ignored);
}

void Replacement::write(std::string_view text) {
  if (const auto error = file_.write(text)) fail(error);
}

void Replacement::commit() {
  auto error = file_.close();
  if (!error && part_ != target_) fs::rename(part_, target_, error);
  if (!error) return;
  remove_part();
  fail(error);
}

void Replacement::fail(std::error_code error) const {
  throw Error(ErrorCode::io, fmt::format("cannot write {}: {}", target_, error.message()));
}

void replace_file(const std::string& path, std::string_view text, Links links) {
  Replacement file(path, links);
  file.write(text);
  file.commit();
}

}  // namespace clweave::os
