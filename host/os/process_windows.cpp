// SPDX-License-Identifier: Apache-2.0
#include "os/process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "base/error.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "os/clock.hpp"
#include "os/handle.hpp"
#include "os/interrupt.hpp"
#include "os/system_windows.hpp"
#include "os/unseen_number.hpp"

namespace clweave::os {

namespace {

// The variable that tells a process the handle on which it answers.
constexpr const wchar_t* answer_variable = L"CLWEAVE_ANSWER_HANDLE";
// A process that takes nothing for so long hangs, and would keep this one from its interrupts.
constexpr double most_deaf_s = 60;
// How long a wait goes on before it looks for an interrupt, which comes in another thread.
constexpr double slice_s = 0.05;

[[noreturn]] void fail() { throw Error(ErrorCode::io, error_now().message()); }

DWORD milliseconds(double seconds) { return static_cast<DWORD>(std::max(0.0, seconds) * 1e3) + 1; }

// A pipe whose end here is read or written without waiting for its other end, a new process's. Only pipes
// with names can be.
struct Pipe {
  explicit Pipe(DWORD direction) {
    const std::wstring name =
        wide(fmt::format(R"(\\.\pipe\clweave-{}-{:08x})", GetCurrentProcessId(), unseen_number()));
    constexpr DWORD bytes = 1 << 16;
    here =
        owned(CreateNamedPipeW(name.c_str(), direction | FILE_FLAG_OVERLAPPED | FILE_FLAG_FIRST_PIPE_INSTANCE,
                               PIPE_TYPE_BYTE | PIPE_REJECT_REMOTE_CLIENTS, 1, bytes, bytes, 0, nullptr));
    SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
    there = owned(CreateFileW(
        name.c_str(), direction == PIPE_ACCESS_INBOUND ? GENERIC_WRITE | FILE_READ_ATTRIBUTES : GENERIC_READ,
        0, &inherited, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
    if (!here || !there) throw Error(ErrorCode::io, "cannot make a pipe: " + error_now().message());
  }
  Handle here, there;
};

// One read or write that the system goes on with by itself.
class Transfer {
 public:
  explicit Transfer(Handle pipe)
      : pipe_(std::move(pipe)), event_(owned(CreateEventW(nullptr, TRUE, FALSE, nullptr))) {
    if (!event_) fail();
  }
  // The system may not write to memory that is gone.
  ~Transfer() {
    if (!pending_) return;
    DWORD moved = 0;
    CancelIoEx(system_handle(pipe_), &state_);
    GetOverlappedResult(system_handle(pipe_), &state_, &moved, TRUE);
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // Reads on where no read is under way. Returns false at the end of the pipe.
  bool begin_read() {
    if (pending_) return true;
    begin();
    return begun(
        ReadFile(system_handle(pipe_), bytes_.data(), static_cast<DWORD>(bytes_.size()), nullptr, &state_));
  }
  // Writes the beginning of a text. Returns false if nobody reads.
  bool begin_write(std::string_view text) {
    begin();
    const std::size_t size = std::min(text.size(), bytes_.size());
    std::copy_n(text.data(), size, bytes_.data());
    return begun(WriteFile(system_handle(pipe_), bytes_.data(), static_cast<DWORD>(size), nullptr, &state_));
  }

  // Is set when it is done.
  HANDLE event() const { return system_handle(event_); }

  enum class State { under_way, done, ended };
  // Tells how it stands; `moved`: how many bytes if it is done.
  State look(DWORD& moved) {
    if (!pending_) return State::ended;
    if (GetOverlappedResult(system_handle(pipe_), &state_, &moved, FALSE) != 0) {
      pending_ = false;
      return State::done;
    }
    if (GetLastError() == ERROR_IO_INCOMPLETE) return State::under_way;
    pending_ = false;
    return State::ended;
  }
  std::string_view bytes(DWORD count) const { return {bytes_.data(), count}; }

 private:
  void begin() {
    state_ = {};
    state_.hEvent = event();
  }
  bool begun(BOOL result) {
    pending_ = result != 0 || GetLastError() == ERROR_IO_PENDING;
    return pending_;
  }

  Handle pipe_, event_;
  OVERLAPPED state_{};
  std::array<char, 65536> bytes_{};
  bool pending_ = false;
};

// Quotes a word as CommandLineToArgvW takes it apart: backslashes count only before a quotation mark.
std::wstring quoted(const std::string& word) {
  if (!word.empty() && word.find_first_of(" \t\n\v\"") == std::string::npos) return wide(word);
  std::string out = "\"";
  std::size_t backslashes = 0;
  for (const char c : word) {
    if (c == '"') out.append(backslashes + 1, '\\');
    backslashes = c == '\\' ? backslashes + 1 : 0;
    out += c;
  }
  out.append(backslashes, '\\');
  return wide(out + '"');
}

// Returns NAME=value of this process, less those that are replaced, and the others behind.
std::wstring merged_environment(const std::vector<std::wstring>& extra) {
  const auto name_of = [](std::wstring_view entry) { return entry.substr(0, entry.find(L'=', 1)); };
  const auto same = [](std::wstring_view one, std::wstring_view other) {
    return CompareStringOrdinal(one.data(), static_cast<int>(one.size()), other.data(),
                                static_cast<int>(other.size()), TRUE) == CSTR_EQUAL;
  };
  std::vector<std::wstring> all = extra;
  wchar_t* const own = GetEnvironmentStringsW();
  for (const wchar_t* entry = own; entry != nullptr && *entry != L'\0';
       entry += std::wstring_view(entry).size() + 1) {
    if (std::ranges::none_of(extra, [&](const auto& other) { return same(name_of(other), name_of(entry)); }))
      all.emplace_back(entry);
  }
  if (own != nullptr) FreeEnvironmentStringsW(own);
  std::wstring out;
  for (const auto& entry : all) out += entry + L'\0';
  return out + L'\0';
}

// Handles that a new process inherits, and no other.
class Inherited {
 public:
  explicit Inherited(std::vector<HANDLE> handles) : handles_(std::move(handles)) {
    SIZE_T bytes = 0;
    InitializeProcThreadAttributeList(nullptr, 1, 0, &bytes);
    memory_.resize(bytes);
    if (InitializeProcThreadAttributeList(list(), 1, 0, &bytes) == 0) fail();
    if (UpdateProcThreadAttribute(list(), 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles_.data(),
                                  handles_.size() * sizeof(HANDLE), nullptr, nullptr) == 0) {
      DeleteProcThreadAttributeList(list());
      fail();
    }
  }
  ~Inherited() { DeleteProcThreadAttributeList(list()); }
  Inherited(const Inherited&) = delete;
  Inherited& operator=(const Inherited&) = delete;

  LPPROC_THREAD_ATTRIBUTE_LIST list() {
    return reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(memory_.data());
  }

 private:
  std::vector<HANDLE> handles_;  // the list points to them
  std::vector<std::byte> memory_;
};

// A process and the job that it and all that it starts are in: they end when the job's last handle is closed,
// as by the end of this process.
struct Started {
  Handle process, job;
  int id = -1;
};

Started start(const Program& program, const Handle& in, const Handle& out, const Handle* answers) {
  Started started;
  started.job = owned(CreateJobObjectW(nullptr, nullptr));
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  limits.BasicLimitInformation.LimitFlags =
      JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
  if (!started.job || SetInformationJobObject(system_handle(started.job), JobObjectExtendedLimitInformation,
                                              &limits, sizeof limits) == 0)
    fail();
  std::vector<std::wstring> variables;
  for (const auto& entry : program.variables) variables.push_back(wide(entry));
  std::vector<HANDLE> handles = {system_handle(in), system_handle(out)};
  if (answers != nullptr) {
    handles.push_back(system_handle(*answers));
    variables.push_back(std::wstring(answer_variable) + L"=" + std::to_wstring(answers->value()));
  }
  std::wstring line;
  for (const auto& word : program.words) line += (line.empty() ? L"" : L" ") + quoted(word);
  std::wstring environment = merged_environment(variables);
  Inherited inherited(handles);
  STARTUPINFOEXW how{};
  how.StartupInfo.cb = sizeof how;
  how.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  how.StartupInfo.hStdInput = system_handle(in);
  how.StartupInfo.hStdOutput = how.StartupInfo.hStdError = system_handle(out);
  how.lpAttributeList = inherited.list();
  PROCESS_INFORMATION process{};
  if (CreateProcessW(
          wide(program.file).c_str(), line.data(), nullptr, nullptr, TRUE,
          CREATE_SUSPENDED | CREATE_NO_WINDOW | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT,
          environment.data(), nullptr, &how.StartupInfo, &process) == 0)
    fail();
  started.process = owned(process.hProcess);
  started.id = static_cast<int>(process.dwProcessId);
  const Handle thread = owned(process.hThread);
  if (AssignProcessToJobObject(system_handle(started.job), process.hProcess) == 0) {
    const auto why = error_now();
    TerminateProcess(process.hProcess, 1);
    throw Error(ErrorCode::io, why.message());
  }
  ResumeThread(process.hThread);
  return started;
}

// Names what ended a process, where its exit code tells.
std::string exception_name(DWORD code) {
  switch (code) {
    case EXCEPTION_ACCESS_VIOLATION: return "access violation";
    case EXCEPTION_STACK_OVERFLOW: return "stack overflow";
    case EXCEPTION_ILLEGAL_INSTRUCTION: return "illegal instruction";
    case EXCEPTION_INT_DIVIDE_BY_ZERO: return "integer division by zero";
    case EXCEPTION_IN_PAGE_ERROR: return "memory that could not be read in";
    case 0xC0000017: return "no memory left";
    case 0xC0000135: return "a library is missing";
    case 0xC000013A: return "interrupted";
    case 0xC0000374: return "a broken heap";
    case 0xC0000409: return "ended by itself as something was broken";
    default: return "exception";
  }
}

Ending ending_of(DWORD code) {
  constexpr DWORD exceptions = 0xC0000000;
  if (code == 0) return {};
  if (code < exceptions) return {static_cast<int>(code), fmt::format("exit code {}", code)};
  return {static_cast<int>(code), fmt::format("{} (0x{:08X})", exception_name(code), code)};
}

}  // namespace

struct Process::Connection {
  Handle process, job;
  std::unique_ptr<Transfer> to, from, prints;
};

Process::Process(const Program& program, Take printed)
    : connection_(std::make_unique<Connection>()), printed_(std::move(printed)) {
  Pipe down(PIPE_ACCESS_OUTBOUND), up(PIPE_ACCESS_INBOUND), print(PIPE_ACCESS_INBOUND);
  auto started = start(program, down.there, print.there, &up.there);
  id_ = started.id;
  connection_->process = std::move(started.process);
  connection_->job = std::move(started.job);
  connection_->to = std::make_unique<Transfer>(std::move(down.here));
  connection_->from = std::make_unique<Transfer>(std::move(up.here));
  connection_->prints = std::make_unique<Transfer>(std::move(print.here));
}

Process::Process(const Program& program, const std::filesystem::path& log)
    : connection_(std::make_unique<Connection>()) {
  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  const auto open = [&](const wchar_t* path, DWORD access, DWORD create) {
    Handle out = owned(CreateFileW(path, access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                   &inherited, create, FILE_ATTRIBUTE_NORMAL, nullptr));
    if (!out) fail();
    return out;
  };
  const Handle in = open(L"NUL", GENERIC_READ, OPEN_EXISTING);
  const Handle out = open(log.c_str(), GENERIC_WRITE, CREATE_ALWAYS);
  auto started = start(program, in, out, nullptr);
  id_ = started.id;
  connection_->process = std::move(started.process);
  connection_->job = std::move(started.job);
}

Process::~Process() { stop(); }

bool Process::send(std::string_view text) {
  Transfer& to = *connection_->to;
  while (!text.empty()) {
    if (!to.begin_write(text)) return false;
    const double until = host_now() + most_deaf_s;
    DWORD moved = 0;
    Transfer::State state{};
    while ((state = to.look(moved)) == Transfer::State::under_way) {
      if (host_now() > until) return false;
      // A process that prints more than a pipe holds would wait for this one, which waits for it.
      take_print();
      const std::array<HANDLE, 2> ready = {to.event(), connection_->prints->event()};
      WaitForMultipleObjects(2, ready.data(), FALSE, milliseconds(slice_s));
    }
    if (state == Transfer::State::ended) return false;
    text.remove_prefix(moved);
  }
  return true;
}

void Process::take_print() {
  Transfer& prints = *connection_->prints;
  // Not for ever: it may print as fast as this reads.
  for (int pass = 0; pass < 16 && prints.begin_read(); ++pass) {
    DWORD got = 0;
    if (prints.look(got) != Transfer::State::done) return;
    printed_(prints.bytes(got));
  }
}

Process::Heard Process::hear(std::string& answer, double seconds) {
  Transfer& from = *connection_->from;
  const double until = host_now() + seconds;
  const int before = interrupts();
  while (true) {
    take_print();
    if (!from.begin_read()) return Heard::end;
    DWORD got = 0;
    const auto state = from.look(got);
    if (state == Transfer::State::ended) return Heard::end;
    if (state == Transfer::State::done && got > 0) {
      answer.append(from.bytes(got));
      return Heard::answer;
    }
    const double left = until - host_now();
    if (left <= 0) {
      // A process that a driver started keeps the pipe open, so the end is not seen there.
      wait(0);
      return Heard::nothing;
    }
    if (interrupts() != before) return Heard::nothing;
    const std::array<HANDLE, 2> ready = {from.event(), connection_->prints->event()};
    WaitForMultipleObjects(2, ready.data(), FALSE, milliseconds(std::min(left, slice_s)));
  }
}

bool Process::wait(double seconds) {
  if (ending_) return true;
  if (!connection_->process) return false;
  const HANDLE process = system_handle(connection_->process);
  if (WaitForSingleObject(process, seconds <= 0 ? 0 : milliseconds(seconds)) != WAIT_OBJECT_0) return false;
  DWORD code = 0;
  GetExitCodeProcess(process, &code);
  ending_ = ending_of(code);
  TerminateJobObject(system_handle(connection_->job), 1);  // what it started
  return true;
}

// There is no signal that a process without a console could be sent.
bool Process::stop() { return kill(); }

bool Process::kill() {
  if (wait(0)) return true;
  TerminateJobObject(system_handle(connection_->job), 1);
  return wait(5);
}

bool answer(std::string_view text) {
  static const HANDLE out = [] {
    const std::string value = narrow(variable(answer_variable));
    SetEnvironmentVariableW(answer_variable, nullptr);
    const HANDLE handle = reinterpret_cast<HANDLE>(number_of<std::intptr_t>(value).value_or(-1));
    SetHandleInformation(handle, HANDLE_FLAG_INHERIT, 0);
    return handle;
  }();
  while (!text.empty()) {
    DWORD written = 0;
    if (WriteFile(out, text.data(), static_cast<DWORD>(text.size()), &written, nullptr) == 0) return false;
    text.remove_prefix(written);
  }
  return true;
}

// Its job does that, see start().
void end_with_parent(int) {}

std::string found_program(const std::string& name) {
  wchar_t found[4096];
  const DWORD length = SearchPathW(nullptr, wide(name).c_str(), L".exe", 4096, found, nullptr);
  return length == 0 || length >= 4096 ? "" : narrow({found, length});
}

}  // namespace clweave::os
