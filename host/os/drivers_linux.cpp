// SPDX-License-Identifier: Apache-2.0
#include "os/drivers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>

namespace clweave::os {

namespace fs = std::filesystem;

std::string opencl_library() { return "libOpenCL.so.1"; }
std::string nvml_library() { return "libnvidia-ml.so.1"; }

std::vector<std::filesystem::path> registered_drivers() {
  const char* set = std::getenv("OCL_ICD_VENDORS");
  const fs::path place = set != nullptr && *set != '\0' ? set : "/etc/OpenCL/vendors";
  std::vector<fs::path> files;
  std::error_code missing;
  if (fs::is_directory(place, missing)) {
    for (const auto& entry : fs::directory_iterator(place, missing)) {
      if (entry.path().extension() == ".icd") files.push_back(fs::absolute(entry.path()));
    }
  } else if (fs::exists(place, missing)) {
    files.push_back(fs::absolute(place));
  }
  std::ranges::sort(files);
  return files;
}

std::string library_of_driver(const fs::path& registered) {
  std::ifstream in(registered);
  std::string name;
  in >> name;
  return name;
}

std::vector<std::string> forbidden_nodes(const fs::path& root) {
  std::vector<fs::path> nodes;
  for (const auto& [folder, begin] : {std::pair{"dev/dri", "renderD"}, {"dev", "kfd"}, {"dev", "nvidia"}}) {
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(root / folder, missing)) {
      if (entry.path().filename().string().starts_with(begin) && !entry.is_directory(missing))
        nodes.push_back(entry.path());
    }
  }
  std::ranges::sort(nodes);
  std::vector<std::string> out;
  for (const auto& node : nodes) {
    if (faccessat(AT_FDCWD, node.c_str(), R_OK | W_OK, AT_EACCESS) == 0 || errno != EACCES) continue;
    struct stat about = {};
    const group* const owner = stat(node.c_str(), &about) == 0 ? getgrgid(about.st_gid) : nullptr;
    out.push_back(fmt::format(
        "this user may not open {}{}", node.string(),
        owner == nullptr || (about.st_mode & S_IWGRP) == 0
            ? ""
            : fmt::format(", which group {0} may: usermod -aG {0} USER, and log in again", owner->gr_name)));
  }
  return out;
}

const char* how_to_install_opencl() {
  return "It takes OpenCL's library, libOpenCL.so.1, and a driver: GPUs' are of their "
         "vendors; this processor becomes a device by\n"
         "  Debian, Ubuntu:       apt-get install ocl-icd-libopencl1 pocl-opencl-icd\n"
         "  Fedora, conda-forge:  ocl-icd and pocl\n"
         "What lies elsewhere is found by LD_LIBRARY_PATH=FOLDER of the library and OCL_ICD_VENDORS=FOLDER "
         "of "
         "the drivers' .icd files";
}

std::vector<std::pair<const char*, const char*>> place_variables() {
  return {{"LD_LIBRARY_PATH", "Folders in which OpenCL's library, libOpenCL.so.1, is searched first."},
          {"OCL_ICD_VENDORS", "The folder of the drivers' .icd files; else /etc/OpenCL/vendors."},
          {"XDG_DATA_HOME", "clweave/tuned.json in it keeps tuned configurations; else ~/.local/share."}};
}

}  // namespace clweave::os
