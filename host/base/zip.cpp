// SPDX-License-Identifier: Apache-2.0
#include "base/zip.hpp"

#include <fmt/format.h>
#include <minizip/unzip.h>
#include <minizip/zip.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "base/error.hpp"

namespace clweave::base {

namespace fs = std::filesystem;

namespace {

struct CloseRead {
  void operator()(void* archive) const { unzClose(archive); }
};
using Reading = std::unique_ptr<void, CloseRead>;

// Returns false if the disk is full.
bool write_all(const std::string& path, const std::vector<ZipEntry>& entries) {
  const zipFile archive = zipOpen64(path.c_str(), APPEND_STATUS_CREATE);
  if (archive == nullptr) return false;
  bool ok = true;
  constexpr std::size_t stretch = std::size_t{1} << 30;  // bytes per write: minizip's lengths have 32 bits
  constexpr uLong names_are_utf8 = 1 << 11;
  for (const auto& entry : entries) {
    const zip_fileinfo info{};
    ok = ok && zipOpenNewFileInZip4_64(archive, entry.name.c_str(), &info, nullptr, 0, nullptr, 0, nullptr,
                                       Z_DEFLATED, Z_DEFAULT_COMPRESSION, 0, -MAX_WBITS, DEF_MEM_LEVEL,
                                       Z_DEFAULT_STRATEGY, nullptr, 0, 0, names_are_utf8,
                                       entry.text.size() >= UINT32_MAX ? 1 : 0) == ZIP_OK;
    for (std::size_t at = 0; ok && at < entry.text.size(); at += stretch) {
      const auto length = static_cast<unsigned>(std::min(stretch, entry.text.size() - at));
      ok = zipWriteInFileInZip(archive, &entry.text[at], length) == ZIP_OK;
    }
    ok = ok && zipCloseFileInZip(archive) == ZIP_OK;
  }
  return zipClose(archive, nullptr) == ZIP_OK && ok;
}

std::string text_of_entry(void* archive, std::uint64_t bytes, const std::string& what) {
  std::string text(bytes, '\0');
  constexpr std::size_t stretch = std::size_t{1} << 30;
  bool ok = unzOpenCurrentFile(archive) == UNZ_OK;
  for (std::size_t at = 0; ok && at < text.size();) {
    const int got =
        unzReadCurrentFile(archive, &text[at], static_cast<unsigned>(std::min(stretch, text.size() - at)));
    ok = got > 0;
    at += static_cast<std::size_t>(std::max(got, 0));
  }
  // Closing verifies the CRC.
  if (unzCloseCurrentFile(archive) != UNZ_OK || !ok)
    throw Error(ErrorCode::io, fmt::format("cannot read {}: it is broken", what));
  return text;
}

}  // namespace

void check_zip(const std::string& path) {
  std::error_code none;
  if (!fs::exists(path, none) || fs::file_size(path, none) == 0) return;
  if (!Reading(unzOpen64(path.c_str())))
    throw Error(ErrorCode::usage, path + " is no archive, and would be lost: choose another name");
}

void write_zip(const std::string& path, const std::vector<ZipEntry>& entries) {
  check_zip(path);
  std::error_code error;
  if (const fs::path folder = fs::path(path).parent_path(); !folder.empty())
    fs::create_directories(folder, error);
  const std::string part = path + ".part";
  if (write_all(part, entries)) {
    fs::rename(part, path, error);
    if (!error) return;
  }
  fs::remove(part, error);
  throw Error(ErrorCode::io, fmt::format("cannot write {}: is there such a folder, and room?", path));
}

std::vector<ZipEntry> read_zip(const std::string& path, std::string_view ending) {
  constexpr std::uint64_t most_bytes = std::uint64_t{4} << 30;
  const Reading archive(unzOpen64(path.c_str()));
  if (!archive) throw Error(ErrorCode::io, fmt::format("cannot read {}: it is no archive", path));
  std::vector<ZipEntry> out;
  std::uint64_t bytes = 0;
  for (int at = unzGoToFirstFile(archive.get()); at != UNZ_END_OF_LIST_OF_FILE;
       at = unzGoToNextFile(archive.get())) {
    std::array<char, 4096> name{};
    unz_file_info64 info{};
    if (at != UNZ_OK || unzGetCurrentFileInfo64(archive.get(), &info, name.data(), name.size() - 1, nullptr,
                                                0, nullptr, 0) != UNZ_OK)
      throw Error(ErrorCode::io, fmt::format("cannot read {}: it is broken", path));
    const std::string called = name.data();
    if (!called.ends_with(ending) || called.find_first_of("/\\") != std::string::npos) continue;
    bytes += info.uncompressed_size;
    if (bytes > most_bytes) throw Error(ErrorCode::io, path + " unpacks to more than 4 GiB");
    out.push_back({called, text_of_entry(archive.get(), info.uncompressed_size,
                                         fmt::format("{} of {}", called, path))});
  }
  return out;
}

}  // namespace clweave::base
