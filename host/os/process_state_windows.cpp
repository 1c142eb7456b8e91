// SPDX-License-Identifier: Apache-2.0
#include "os/process_state.hpp"

#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include <cstdio>
#include <cstdlib>

namespace clweave::os {

void prepare_process() {
  for (std::FILE* file : {stdin, stdout, stderr}) {
    // A program without a console has closed ones, whose numbers other files would get.
    if (_fileno(file) < 0 || _get_osfhandle(_fileno(file)) == -1) [[maybe_unused]]
      const auto* const opened = std::freopen("NUL", file == stdin ? "rb" : "wb", file);
    // Files have the same bytes on every system.
    _setmode(_fileno(file), _O_BINARY);
  }
  _fmode = _O_BINARY;
  SetConsoleOutputCP(CP_UTF8);
  // A console shows colours only if it is asked to.
  for (const DWORD which : {STD_OUTPUT_HANDLE, STD_ERROR_HANDLE}) {
    DWORD mode = 0;
    if (GetConsoleMode(GetStdHandle(which), &mode) != 0)
      SetConsoleMode(GetStdHandle(which), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
  }
  // A crash ends the process at once; by default a window would ask what to do.
  SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
#ifdef _MSC_VER
  _set_abort_behavior(0, _WRITE_ABORT_MSG | _CALL_REPORTFAULT);
#endif
}

void ProcessState::unblock_signals() {}

}  // namespace clweave::os
