// SPDX-License-Identifier: Apache-2.0
#include "base/zip.hpp"

#include <fmt/format.h>
#include <minizip/unzip.h>
#include <minizip/zip.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>

#include "base/error.hpp"
#include "os/replacement.hpp"

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

using Sink = std::function<void(std::string_view)>;

// Reads the current entry, however long the archive says it is. Returns its bytes; throws `io` once they are
// more than `most`, what is left of `all`.
std::uint64_t read_entry(void* archive, std::uint64_t most, std::uint64_t all, const std::string& path,
                         const std::string& name, const Sink& sink) {
  const auto broken = [&] {
    return Error(ErrorCode::io, fmt::format("cannot read {} of {}: it is broken", name, path));
  };
  std::vector<char> piece(1 << 18);
  std::uint64_t bytes = 0;
  if (unzOpenCurrentFile(archive) != UNZ_OK) throw broken();
  for (;;) {
    const int got = unzReadCurrentFile(archive, piece.data(), static_cast<unsigned>(piece.size()));
    if (got < 0) throw broken();
    if (got == 0) break;
    bytes += static_cast<std::uint64_t>(got);
    if (bytes > most)
      throw Error(ErrorCode::io,
                  fmt::format("{} unpacks to more than {} bytes: unpack it by other means, and name "
                              "its files",
                              path, all));
    sink({piece.data(), static_cast<std::size_t>(got)});
  }
  // Closing verifies the CRC.
  if (unzCloseCurrentFile(archive) != UNZ_OK) throw broken();
  return bytes;
}

// Calls `open` with the name of each entry that has the ending, in order, and what it returns, unless that is
// empty, with the text in pieces.
void read_entries(const std::string& path, std::string_view ending, std::uint64_t most_bytes,
                  const std::function<Sink(const std::string& name)>& open) {
  const Reading archive(unzOpen64(path.c_str()));
  if (!archive) throw Error(ErrorCode::io, fmt::format("cannot read {}: it is no archive", path));
  std::set<std::string> seen;
  std::uint64_t bytes = 0, entries = 0;
  for (int at = unzGoToFirstFile(archive.get()); at != UNZ_END_OF_LIST_OF_FILE;
       at = unzGoToNextFile(archive.get())) {
    std::array<char, 4096> name{};
    unz_file_info64 info{};
    if (at != UNZ_OK || unzGetCurrentFileInfo64(archive.get(), &info, name.data(), name.size() - 1, nullptr,
                                                0, nullptr, 0) != UNZ_OK)
      throw Error(ErrorCode::io, fmt::format("cannot read {}: it is broken", path));
    if (++entries > most_zip_entries)
      throw Error(ErrorCode::io, fmt::format("{} has more than {} entries", path, most_zip_entries));
    const std::string called = name.data();
    if (!called.ends_with(ending) || called.find_first_of("/\\") != std::string::npos) continue;
    if (!seen.insert(called).second)
      throw Error(ErrorCode::io, fmt::format("{} has two entries {}: which counts?", path, called));
    if (const Sink sink = open(called))
      bytes += read_entry(archive.get(), most_bytes - bytes, most_bytes, path, called, sink);
  }
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
  const auto fail = [&] {
    return Error(ErrorCode::io, fmt::format("cannot write {}: is there such a folder, and room?", path));
  };
  try {
    Replacement archive(path);
    if (!write_all(archive.path(), entries)) throw fail();
    archive.commit();
  } catch (const Error&) {
    throw fail();
  }
}

std::vector<ZipEntry> read_zip(const std::string& path, std::string_view ending) {
  std::vector<ZipEntry> out;
  read_entries(path, ending, most_unpacked_bytes, [&](const std::string& name) {
    out.push_back({name, {}});
    return [&text = out.back().text](std::string_view piece) { text += piece; };
  });
  return out;
}

std::vector<std::string> zip_names(const std::string& path, std::string_view ending) {
  std::vector<std::string> out;
  read_entries(path, ending, most_unpacked_bytes, [&](const std::string& name) {
    out.push_back(name);
    return Sink();
  });
  return out;
}

std::vector<std::string> unpack_zip(const std::string& path, std::string_view ending,
                                    const std::string& folder, std::uint64_t most_bytes) {
  std::vector<std::string> out;
  std::ofstream file;
  const auto shut = [&] {
    if (out.empty()) return;
    file.close();
    if (!file) throw Error(ErrorCode::io, fmt::format("cannot unpack {} into {}", path, folder));
  };
  read_entries(path, ending, most_bytes, [&](const std::string& name) {
    shut();
    file.open(fs::path(folder) / name, std::ios::binary);
    out.push_back(name);
    return [&file](std::string_view piece) { file << piece; };
  });
  shut();
  return out;
}

}  // namespace clweave::base
