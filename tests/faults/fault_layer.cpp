// SPDX-License-Identifier: Apache-2.0
// fault_layer: makes a healthy OpenCL driver misbehave on request, so that tests see real failures.
//
//   OPENCL_LAYERS=.../libclweave_fault_layer.so CLWEAVE_FAULTS=enqueue:3=-5,nofp64 PROGRAM
//
// CLWEAVE_FAULTS is a comma separated list of the items below; empty or unset changes nothing.
//
//   CALL:N=ACTION    at the Nth call (from 1)      CALL:N+=ACTION   at the Nth call and all later ones
//   CALL:N-=ACTION   at the Nth call and all before   CALL:N*=ACTION   at each Nth call
//   CALL:N!=ACTION   at the Nth call of the first process that gets so far, as CLWEAVE_FAULTS_LOG tells
//   CALL=ACTION      at every call
//   CALL@KERNEL...   counts only launches of that kernel, or other calls while it is the last one launched
//
//   CALL        entry point                  ACTION beside those for all
//   platforms   clGetPlatformIDs
//   devices     clGetDeviceIDs
//   build       clBuildProgram               -CODE comes after a real build, so a log exists
//   buffer      clCreateBuffer
//   enqueue     clEnqueueNDRangeKernel       skip: the kernel does not run, its event completes
//                                            short: its last group does not, where it has several
//                                            after: it runs behind the next, whatever is to prevent that
//                                            bits: of a million words in its buffers one gets a wrong bit
//                                            equal: skipped if nothing differs from the last launch, and no
//                                            other command was between
//                                            noevent: skipped, as all launches of the process from then on
//                                            for which no event is asked
//                                            dead: skipped, as all launches of the process from then on
//   wait        clWaitForEvents              late: the work has ended for 10 ms when it is said to
//   finish      clFinish                     late: likewise
//                                            early: returns while the work still runs
//   read        clEnqueueReadBuffer          flip: one bit differs; the read becomes blocking
//                                            bits: one bit in a million words; likewise
//                                            stale: as all reads from then on, gives what the first of that
//                                            place gave
//   map         clEnqueueMapBuffer           stale: to read, likewise; the map is a copy
//                                            lost: what is written through it does not reach the buffer
//   write       clEnqueueWriteBuffer
//   copy        clEnqueueCopyBuffer          slower: by CLWEAVE_FAULTS_SLOWER per cent, 8 if unset
//   fill        clEnqueueFillBuffer          none: nothing is written
//                                            half: only the first half is
//                                            narrow: only the first 4 bytes of the pattern, repeated
//                                            near: not beyond the first 16 MiB of a buffer
//                                            counts only fills of CLWEAVE_FAULTS_ABOVE bytes or more, 1 if
//                                            unset
//   profile     clGetEventProfilingInfo      the timers below
//
//   ACTION for all   what the call does, in place of its work
//   -CODE            returns that error
//   hang, spin       never returns: asleep, or busy
//   crash            dies of SIGSEGV by a real write to address 0
//   fork             forks a process that never ends, then as crash
//   abort, exit      dies of SIGABRT; ends the process with exit code 7
//   malformed        as hang, after an answer to the parent that has nothing of what answers have
//   flood            answers the parent without end
//   hog              takes all memory that there is
//
//   ACTION for all   what happens before the call does its work
//   ftz              denormals become zero in this thread, and what it computes is rounded up
//   chdir            the process is in another folder
//   print            words to stdout, stderr and the terminal, more than a pipe holds
//
//   profile=...      stamps
//   zero             all 0
//   constant         queued 0, submit 1, start 2, end 3, complete 4
//   backward         start and end exchanged, at least 1 ns apart
//   fast, slow       divided or multiplied by 41.67, from the first event's queued time on
//   wrap             a 32 bit counter that wraps just after the start of the first event altered
//   untouched        CL_SUCCESS, but no value is written
//   late             the end is 1 ms later than it was
//   longer, shorter  1.2 or 0.85 times as long
//   halved           half as long, if longer than 30 ms
//   early            the end is a twelfth of it earlier than it was, if longer than 5 ms
//
//   LIMIT            effect
//   noprofile        a queue with time stamps is refused: CL_INVALID_QUEUE_PROPERTIES
//   nofp64           no fp64 in extension and feature lists, DOUBLE_FP_CONFIG and vector widths 0
//   kwgs=N           CL_KERNEL_WORK_GROUP_SIZE is N; a larger local size: CL_INVALID_WORK_GROUP_SIZE
//   maxwgs=N         CL_DEVICE_MAX_WORK_GROUP_SIZE is N, item and kernel sizes at most N; enforced alike
//   maxalloc=BYTES   CL_DEVICE_MAX_MEM_ALLOC_SIZE; a larger buffer: CL_INVALID_BUFFER_SIZE
//   globalmem=BYTES  CL_DEVICE_GLOBAL_MEM_SIZE, answer only
//   memory=0, ones   that and CL_DEVICE_MAX_MEM_ALLOC_SIZE are 0, or all ones
//   biglog=BYTES     a build that fails has a log as long, of a line again and again
//   localmem=BYTES   CL_DEVICE_LOCAL_MEM_SIZE, answer only
//   twice            every platform is listed twice, as where a driver is registered twice
//   gone             the first device of a platform is listed in the first process alone
//   query=PARAM      that clGetDeviceInfo query, a decimal number, fails
//   blink=PARAM      likewise, the first time in a process
//   paced            a device whose times no other process changes: by its own clock and the host's a copy
//                    takes 1 ns a byte, a launch 50 ns an item, and the kernel spin as much a trip; in order,
//                    all queues alike. Slower copies are so by this clock
//
// CLWEAVE_FAULTS_DEVICE=N: only in processes that make a context of device N of its platform, from then on.
//
// Calls are counted per process. Text that is not in the tables ends the process with exit code 99: a
// typo must not let a test pass. A loader ignores a wrong path in OPENCL_LAYERS silently, so a test has to
// show that its fault happened: CLWEAVE_FAULTS_LOG=FILE gets one line for each, written before it acts:
//   enqueue 3 error -5    enqueue@add 2 skip    profile 1 zero    kwgs 1 answer 16    kwgs 2 refuse 64
// where the number is that of the call, and for a limit how often it has acted. Bits are told when they flip:
// CLWEAVE_FAULTS_SEED draws which, one in CLWEAVE_FAULTS_ONE_IN words, a million if unset.
//
// Every other entry point passes through, so these escape: clEnqueueTask, clCompileProgram,
// clLinkProgram, clCreateBufferWithProperties, clCreateSubBuffer, SVM, images, rectangular
// transfers, clCreateContextFromType, and whatever the loader itself asks the driver.
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>
#include <fcntl.h>
#include <unistd.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cfenv>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

// NOLINTBEGIN(bugprone-sizeof-expression): OpenCL's handles are pointers, and are meant
namespace {

enum class Call {
  platforms,
  devices,
  build,
  buffer,
  enqueue,
  wait,
  finish,
  read,
  write,
  copy,
  map,
  fill,
  profile
};
constexpr std::string_view call_names[] = {"platforms", "devices", "build",  "buffer", "enqueue",
                                           "wait",      "finish",  "read",   "write",  "copy",
                                           "map",       "fill",    "profile"};

enum class Action {
  none,
  error,
  skip,
  brief,
  after,
  bits,
  equal,
  noevent,
  dead,
  flip,
  stale,
  lost,
  late,
  early,
  nothing,
  half,
  narrow,
  near,
  slower,
  hang,
  spin,
  crash,
  fork,
  abort,
  exit,
  malformed,
  hog,
  flood,
  ftz,
  chdir,
  print,
  zero,
  constant,
  backward,
  fast,
  slow,
  wrap,
  untouched,
  later,
  longer,
  shorter,
  halved,
  end_early
};
struct ActionName {
  std::string_view text;
  Action action;
  std::optional<Call> only;
};
constexpr ActionName action_names[] = {
    {"skip", Action::skip, Call::enqueue},
    {"short", Action::brief, Call::enqueue},
    {"after", Action::after, Call::enqueue},
    {"bits", Action::bits, Call::enqueue},
    {"bits", Action::bits, Call::read},
    {"equal", Action::equal, Call::enqueue},
    {"noevent", Action::noevent, Call::enqueue},
    {"dead", Action::dead, Call::enqueue},
    {"flip", Action::flip, Call::read},
    {"stale", Action::stale, Call::read},
    {"stale", Action::stale, Call::map},
    {"lost", Action::lost, Call::map},
    {"late", Action::late, Call::wait},
    {"late", Action::late, Call::finish},
    {"early", Action::early, Call::finish},
    {"none", Action::nothing, Call::fill},
    {"half", Action::half, Call::fill},
    {"narrow", Action::narrow, Call::fill},
    {"near", Action::near, Call::fill},
    {"late", Action::later, Call::profile},
    {"slower", Action::slower, Call::copy},
    {"hang", Action::hang, {}},
    {"spin", Action::spin, {}},
    {"crash", Action::crash, {}},
    {"fork", Action::fork, {}},
    {"abort", Action::abort, {}},
    {"exit", Action::exit, {}},
    {"malformed", Action::malformed, {}},
    {"flood", Action::flood, {}},
    {"hog", Action::hog, {}},
    {"ftz", Action::ftz, {}},
    {"chdir", Action::chdir, {}},
    {"print", Action::print, {}},
    {"zero", Action::zero, Call::profile},
    {"constant", Action::constant, Call::profile},
    {"backward", Action::backward, Call::profile},
    {"fast", Action::fast, Call::profile},
    {"slow", Action::slow, Call::profile},
    {"wrap", Action::wrap, Call::profile},
    {"untouched", Action::untouched, Call::profile},
    {"longer", Action::longer, Call::profile},
    {"shorter", Action::shorter, Call::profile},
    {"halved", Action::halved, Call::profile},
    {"early", Action::end_early, Call::profile},
};

struct Rule {
  std::string label;  // "enqueue" or "enqueue@add", as in the log
  std::string action_text;
  Call call{};
  std::string kernel;  // empty: any
  unsigned long first = 1;
  bool onwards = true;
  bool once = false, each = false, until = false;
  Action action = Action::none;
  cl_int code = CL_SUCCESS;
  std::atomic<unsigned long> calls = 0;
};

struct Limit {
  std::string_view name;
  std::optional<cl_ulong> value = {};
  std::atomic<unsigned long> acted = 0;
};

// Never freed: drivers call back from threads that outlive static destructors.
std::deque<Rule>& rules = *new std::deque<Rule>;
std::string& last_launched = *new std::string;  // kernel; of the one thread that launches any
Limit nofp64{"nofp64"}, kwgs{"kwgs"}, maxwgs{"maxwgs"};
Limit maxalloc{"maxalloc"}, globalmem{"globalmem"}, localmem{"localmem"};
Limit memory{"memory"}, biglog{"biglog"}, blink{"blink"};
Limit noprofile{"noprofile"}, paced{"paced"}, twice{"twice"}, gone{"gone"}, query{"query"};

const cl_icd_dispatch* target = nullptr;
std::atomic<bool> acts = true;  // false: not this process, or not yet

constexpr int unusable = 99;

[[noreturn]] void refuse(std::string_view item) {
  std::fprintf(stderr, "clweave_fault_layer: unknown fault '%.*s' in CLWEAVE_FAULTS\n",
               static_cast<int>(item.size()), item.data());
  std::_Exit(unusable);
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

void add_fault(std::string_view item) {
  for (Limit* limit : {&nofp64, &noprofile, &paced, &twice, &gone}) {
    if (limit->name != item) continue;
    limit->value = 0;
    return;
  }
  const std::size_t equals = item.find('=');
  if (equals == std::string_view::npos) refuse(item);
  std::string_view left = item.substr(0, equals);
  const std::string_view right = item.substr(equals + 1);

  if (left == memory.name) {
    if (right != "0" && right != "ones") refuse(item);
    memory.value = right == "0" ? 0 : ~cl_ulong{0};
    return;
  }
  for (Limit* limit : {&biglog, &kwgs, &maxwgs, &maxalloc, &globalmem, &localmem, &query, &blink}) {
    if (limit->name != left) continue;
    limit->value = number<cl_ulong>(right);
    if (!limit->value || *limit->value == 0) refuse(item);
    return;
  }

  Rule& rule = rules.emplace_back();
  if (const std::size_t colon = left.find(':'); colon != std::string_view::npos) {
    std::string_view position = left.substr(colon + 1);
    rule.onwards = position.ends_with('+');
    rule.once = position.ends_with('!');
    rule.each = position.ends_with('*');
    rule.until = position.ends_with('-');
    if (rule.onwards || rule.once || rule.each || rule.until) position.remove_suffix(1);
    rule.first = number<unsigned long>(position).value_or(0);
    if (rule.first == 0) refuse(item);
    left = left.substr(0, colon);
  }
  rule.label = left;
  if (const std::size_t at = left.find('@'); at != std::string_view::npos) {
    rule.kernel = left.substr(at + 1);
    left = left.substr(0, at);
    if (rule.kernel.empty()) refuse(item);
  }
  const auto* const call = std::ranges::find(call_names, left);
  if (call == std::end(call_names)) refuse(item);
  rule.call = static_cast<Call>(call - std::begin(call_names));

  const auto* const named = std::ranges::find_if(action_names, [&](const ActionName& one) {
    return one.text == right && one.only.value_or(rule.call) == rule.call;
  });
  if (named != std::end(action_names)) {
    rule.action = named->action;
    rule.action_text = right;
  } else {
    rule.action = Action::error;
    rule.code = number<cl_int>(right).value_or(0);
    if (rule.code >= 0) refuse(item);
    rule.action_text = "error " + std::to_string(rule.code);
  }
}

void log_line(std::string_view label, unsigned long n, std::string_view what) {
  const char* const path = std::getenv("CLWEAVE_FAULTS_LOG");
  if (path == nullptr || *path == '\0') return;
  std::string line(label);
  line.append(" ").append(std::to_string(n)).append(" ").append(what).append("\n");
  // One write in append mode: several processes may share the file, and the next step may be a crash.
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0 || write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    std::fprintf(stderr, "clweave_fault_layer: cannot write CLWEAVE_FAULTS_LOG '%s'\n", path);
    std::_Exit(unusable);
  }
  close(file);
}

// Returns whether another process has reported that call.
bool is_logged(std::string_view label, unsigned long n) {
  const char* const path = std::getenv("CLWEAVE_FAULTS_LOG");
  std::ifstream log(path != nullptr ? path : "");
  const std::string begin = std::string(label) + " " + std::to_string(n) + " ";
  for (std::string line; std::getline(log, line);) {
    if (line.starts_with(begin)) return true;
  }
  return false;
}

// UBSan would turn the write into its own message and, where it does not recover, into an abort.
__attribute__((no_sanitize("undefined"))) void write_to_null() {
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
}

// Drivers built on LLVM install handlers for these signals, and survive the first one.
[[noreturn]] void die_of(int signal) {
  std::signal(signal, SIG_DFL);
  if (signal == SIGSEGV) write_to_null();
  std::abort();
}

constexpr int answers = 3;  // where a child of clweave answers its parent

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(file, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

void flush_denormals() {
  std::fesetround(FE_UPWARD);
#ifdef __SSE__
  constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x40;
  _mm_setcsr(_mm_getcsr() | flush_to_zero | denormals_are_zero);
#endif
}

void print_everywhere() {
  std::string words;
  while (words.size() < 100000) words += "the driver prints to ";
  write_all(STDOUT_FILENO, words + "stdout\n");
  write_all(STDERR_FILENO, words + "stderr\n");
  const int terminal = open("/dev/tty", O_WRONLY | O_CLOEXEC);
  if (terminal < 0) return;
  write_all(terminal, words + "the terminal\n");
  close(terminal);
}

void disturb(Action action) {
  switch (action) {
    case Action::ftz: return flush_denormals();
    case Action::chdir:
      if (::chdir("/") != 0) std::_Exit(unusable);
      return;
    case Action::print: return print_everywhere();
    default: return;
  }
}

void hang_or_die(Action action) {
  switch (action) {
    case Action::flood:
      for (const std::string line = R"({"phase": "sample"})"
                                    "\n";
           ;)
        write_all(answers, line);
    case Action::hog:
      for (constexpr std::size_t bytes = std::size_t{1} << 22;;) std::memset(std::malloc(bytes), 1, bytes);
    case Action::malformed:
      write_all(answers, "{}\n");
      for (;;) pause();
    case Action::hang:
      for (;;) pause();
    case Action::spin:
      for (volatile unsigned turns = 0;;) turns = turns + 1;
    case Action::fork:
      if (::fork() == 0) {
        for (;;) pause();
      }
      [[fallthrough]];
    case Action::crash: die_of(SIGSEGV);
    case Action::abort: die_of(SIGABRT);
    case Action::exit: std::exit(7);
    default: break;
  }
}

std::string function_name(cl_kernel kernel) {
  std::array<char, 256> name{};
  if (kernel == nullptr || target->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, name.size() - 1,
                                                   name.data(), nullptr) != CL_SUCCESS)
    return {};
  return name.data();
}

struct Fault {
  Action action = Action::none;
  cl_int code = CL_SUCCESS;
  const Rule* rule = nullptr;
  unsigned long number = 0;  // of the call

  void log() const { log_line(rule->label, number, rule->action_text); }
};

// Counts this call; does not return where the fault is to hang or to die.
Fault next_fault(Call call) {
  Fault fault;
  if (!acts) return fault;
  for (Rule& rule : rules) {
    if (rule.call != call) continue;
    if (!rule.kernel.empty() && rule.kernel != last_launched) continue;
    const unsigned long n = ++rule.calls;
    const bool due = rule.each      ? n % rule.first == 0
                     : rule.onwards ? n >= rule.first
                     : rule.until   ? n <= rule.first
                                    : n == rule.first;
    if (!due || fault.action != Action::none) continue;
    if (rule.once && is_logged(rule.label, n)) continue;
    fault = {rule.action, rule.code, &rule, n};
    if (rule.action != Action::bits) fault.log();
    hang_or_die(fault.action);
    disturb(fault.action);
  }
  return fault;
}

void log_limit(Limit& limit, std::string_view what, cl_ulong value) {
  std::string text(what);
  log_line(limit.name, ++limit.acted, text.append(" ").append(std::to_string(value)));
}

template <class T>
void answer(Limit& limit, void* value) {
  if (!limit.value) return;
  log_limit(limit, "answer", *limit.value);
  *static_cast<T*>(value) = static_cast<T>(*limit.value);
}

template <class T>
void answer_at_most(Limit& limit, void* value) {
  if (limit.value && *static_cast<T*>(value) > *limit.value) answer<T>(limit, value);
}

bool exceeds(Limit& limit, cl_ulong value) {
  if (!limit.value || value <= *limit.value) return false;
  log_limit(limit, "refuse", value);
  return true;
}

// The length stays, since callers have asked for it before: the rest moves up, blanks fill the end.
void hide_fp64(char* text) {
  const std::size_t length = std::strlen(text);
  std::string list(" ");
  list.append(text).append(" ");
  const std::size_t at = list.find(" cl_khr_fp64 ");
  if (!nofp64.value || at == std::string_view::npos) return;
  log_limit(nofp64, "answer", 0);
  list.erase(at, std::strlen(" cl_khr_fp64"));
  list.resize(1 + length, ' ');
  std::memcpy(text, list.data() + 1, length);
}

void hide_fp64(cl_name_version* list, std::size_t count) {
  if (!nofp64.value) return;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view name = list[i].name;
    if (name != "cl_khr_fp64" && name != "__opencl_c_fp64") continue;
    log_limit(nofp64, "answer", 0);
    list[i].name[0] = '\0';
  }
}

cl_int CL_API_CALL get_platform_ids(cl_uint entries, cl_platform_id* platforms, cl_uint* count) {
  const Fault fault = next_fault(Call::platforms);
  if (fault.action != Action::error) {
    if (!twice.value) return target->clGetPlatformIDs(entries, platforms, count);
    std::array<cl_platform_id, 32> all{};
    cl_uint known = 0;
    const cl_int status = target->clGetPlatformIDs(all.size() / 2, all.data(), &known);
    if (status != CL_SUCCESS) return status;
    std::ranges::copy_n(all.begin(), known, all.begin() + known);
    if (count != nullptr) *count = 2 * known;
    if (platforms != nullptr) std::ranges::copy_n(all.begin(), std::min(entries, 2 * known), platforms);
    log_limit(twice, "answer", cl_ulong{2} * known);
    return status;
  }
  if (count != nullptr) *count = 0;
  return fault.code;
}

// Returns whether no process before this one has listed devices.
bool is_first_to_list() {
  static const bool is_first = [] {
    const bool out = !is_logged("list", 1);
    if (out) log_line("list", 1, "all");
    return out;
  }();
  return is_first;
}

cl_int CL_API_CALL get_device_ids(cl_platform_id platform, cl_device_type type, cl_uint entries,
                                  cl_device_id* devices, cl_uint* count) {
  const Fault fault = next_fault(Call::devices);
  if (fault.action != Action::error) {
    if (!gone.value || is_first_to_list())
      return target->clGetDeviceIDs(platform, type, entries, devices, count);
    std::array<cl_device_id, 64> all{};
    cl_uint known = 0;
    const cl_int status = target->clGetDeviceIDs(platform, type, all.size(), all.data(), &known);
    if (status != CL_SUCCESS) return status;
    if (count != nullptr) *count = known - 1;
    if (devices != nullptr) std::ranges::copy_n(all.begin() + 1, std::min(entries, known - 1), devices);
    log_limit(gone, "answer", known - 1);
    return known > 1 ? status : CL_DEVICE_NOT_FOUND;
  }
  if (count != nullptr) *count = 0;
  return fault.code;
}

// The number of a device among those of its platform.
std::size_t number_of(cl_device_id device) {
  cl_platform_id platform = nullptr;
  std::array<cl_device_id, 64> all{};
  cl_uint count = 0;
  target->clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr);
  target->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, all.size(), all.data(), &count);
  return static_cast<std::size_t>(std::ranges::find(all, device) - all.begin());
}

cl_context CL_API_CALL create_context(const cl_context_properties* properties, cl_uint count,
                                      const cl_device_id* devices,
                                      void(CL_CALLBACK* notify)(const char*, const void*, std::size_t, void*),
                                      void* data, cl_int* status) {
  if (const char* const only = std::getenv("CLWEAVE_FAULTS_DEVICE"); only != nullptr && count > 0)
    acts = number<std::size_t>(only) == number_of(devices[0]);
  return target->clCreateContext(properties, count, devices, notify, data, status);
}

cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                          cl_command_queue_properties properties, cl_int* status) {
  if (!noprofile.value || (properties & CL_QUEUE_PROFILING_ENABLE) == 0)
    return target->clCreateCommandQueue(context, device, properties, status);
  log_limit(noprofile, "refuse", properties);
  if (status != nullptr) *status = CL_INVALID_QUEUE_PROPERTIES;
  return nullptr;
}

cl_command_queue CL_API_CALL create_queue_with_properties(cl_context context, cl_device_id device,
                                                          const cl_queue_properties* properties,
                                                          cl_int* status) {
  for (const auto* one = properties; noprofile.value && one != nullptr && *one != 0; one += 2) {
    if (one[0] != CL_QUEUE_PROPERTIES || (one[1] & CL_QUEUE_PROFILING_ENABLE) == 0) continue;
    log_limit(noprofile, "refuse", one[1]);
    if (status != nullptr) *status = CL_INVALID_QUEUE_PROPERTIES;
    return nullptr;
  }
  return target->clCreateCommandQueueWithProperties(context, device, properties, status);
}

cl_int CL_API_CALL get_platform_info(cl_platform_id platform, cl_platform_info name, std::size_t size,
                                     void* value, std::size_t* size_ret) {
  std::size_t bytes = 0;
  const cl_int status = target->clGetPlatformInfo(platform, name, size, value, &bytes);
  if (status != CL_SUCCESS) return status;
  if (size_ret != nullptr) *size_ret = bytes;
  if (value == nullptr) return status;
  if (name == CL_PLATFORM_EXTENSIONS) hide_fp64(static_cast<char*>(value));
  if (name == CL_PLATFORM_EXTENSIONS_WITH_VERSION)
    hide_fp64(static_cast<cl_name_version*>(value), bytes / sizeof(cl_name_version));
  return status;
}

cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info name, std::size_t size, void* value,
                                   std::size_t* size_ret) {
  if (query.value == name) {
    log_limit(query, "refuse", name);
    return CL_INVALID_VALUE;
  }
  if (blink.value == name && blink.acted == 0) {
    log_limit(blink, "refuse", name);
    return CL_INVALID_VALUE;
  }
  std::size_t bytes = 0;
  const cl_int status = target->clGetDeviceInfo(device, name, size, value, &bytes);
  if (status != CL_SUCCESS) return status;
  if (size_ret != nullptr) *size_ret = bytes;
  if (value == nullptr) return status;
  switch (name) {
    case CL_DEVICE_EXTENSIONS: hide_fp64(static_cast<char*>(value)); break;
    case CL_DEVICE_EXTENSIONS_WITH_VERSION:
    case CL_DEVICE_OPENCL_C_FEATURES:
      hide_fp64(static_cast<cl_name_version*>(value), bytes / sizeof(cl_name_version));
      break;
    case CL_DEVICE_DOUBLE_FP_CONFIG: answer<cl_device_fp_config>(nofp64, value); break;
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE: answer<cl_uint>(nofp64, value); break;
    case CL_DEVICE_MAX_WORK_GROUP_SIZE: answer<std::size_t>(maxwgs, value); break;
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
      for (std::size_t i = 0; i < bytes / sizeof(std::size_t); ++i)
        answer_at_most<std::size_t>(maxwgs, static_cast<std::size_t*>(value) + i);
      break;
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
      answer<cl_ulong>(maxalloc, value);
      answer<cl_ulong>(memory, value);
      break;
    case CL_DEVICE_GLOBAL_MEM_SIZE:
      answer<cl_ulong>(globalmem, value);
      answer<cl_ulong>(memory, value);
      break;
    case CL_DEVICE_LOCAL_MEM_SIZE: answer<cl_ulong>(localmem, value); break;
    default: break;
  }
  return status;
}

cl_int CL_API_CALL get_kernel_work_group_info(cl_kernel kernel, cl_device_id device,
                                              cl_kernel_work_group_info name, std::size_t size, void* value,
                                              std::size_t* size_ret) {
  const cl_int status = target->clGetKernelWorkGroupInfo(kernel, device, name, size, value, size_ret);
  if (status != CL_SUCCESS || value == nullptr || name != CL_KERNEL_WORK_GROUP_SIZE) return status;
  answer<std::size_t>(kwgs, value);
  answer_at_most<std::size_t>(maxwgs, value);
  return status;
}

// Remembers all buffers ever created, because an address may be reused.
std::set<cl_mem>& buffers_made = *new std::set<cl_mem>;

cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, std::size_t size, void* host,
                                 cl_int* status) {
  Fault fault = next_fault(Call::buffer);
  if (fault.action != Action::error && exceeds(maxalloc, size))
    fault = {Action::error, CL_INVALID_BUFFER_SIZE};
  if (fault.action != Action::error) {
    cl_mem buffer = target->clCreateBuffer(context, flags, size, host, status);
    if (!rules.empty() && buffer != nullptr) buffers_made.insert(buffer);
    return buffer;
  }
  if (status != nullptr) *status = fault.code;
  return nullptr;
}

cl_int CL_API_CALL build_program(cl_program program, cl_uint count, const cl_device_id* devices,
                                 const char* options, void(CL_CALLBACK* notify)(cl_program, void*),
                                 void* user) {
  const Fault fault = next_fault(Call::build);
  const bool fails = fault.action == Action::error;
  // A failing build is still tried: PoCL refuses to give the log of a program that never saw one.
  const cl_int status = target->clBuildProgram(program, count, devices, options, fails ? nullptr : notify,
                                               fails ? nullptr : user);
  return fails ? fault.code : status;
}

cl_int CL_API_CALL get_program_build_info(cl_program program, cl_device_id device, cl_program_build_info name,
                                          std::size_t size, void* value, std::size_t* size_ret) {
  if (!biglog.value || name != CL_PROGRAM_BUILD_LOG)
    return target->clGetProgramBuildInfo(program, device, name, size, value, size_ret);
  if (size_ret != nullptr) *size_ret = *biglog.value;
  if (value == nullptr) return CL_SUCCESS;
  if (size < *biglog.value) return CL_INVALID_VALUE;
  log_limit(biglog, "answer", *biglog.value);
  constexpr std::string_view line =
      "<kernel>:12:3: warning: a compiler that says one thing again and again\n";
  for (std::size_t at = 0; at < *biglog.value; ++at) static_cast<char*>(value)[at] = line[at % line.size()];
  static_cast<char*>(value)[*biglog.value - 1] = '\0';
  return CL_SUCCESS;
}

// Reads a number from the environment. Ends the program if it is invalid.
template <class T>
T setting(const char* name, T usual) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return usual;
  const auto value = number<T>(text);
  if (!value || *value == 0) refuse(text);
  return *value;
}

// Chooses which of all transferred words get a wrong bit.
class Decay {
 public:
  // Calls flip(word, bit) for those of the next `words`.
  template <class F>
  void pass(std::size_t words, const F& flip) {
    for (; next_ < words; next_ += 1 + gap_(random_)) flip(next_, static_cast<unsigned>(random_() % 32));
    next_ -= words;
  }

 private:
  std::mt19937_64 random_{setting<std::uint64_t>("CLWEAVE_FAULTS_SEED", 1)};
  std::geometric_distribution<std::size_t> gap_{
      1.0 / static_cast<double>(setting<std::uint64_t>("CLWEAVE_FAULTS_ONE_IN", 1'000'000))};
  std::size_t next_ = gap_(random_);
};
Decay& decay() {
  static Decay& of_all = *new Decay;
  return of_all;
}

// The buffers that each kernel was given, by argument.
std::map<cl_kernel, std::map<cl_uint, cl_mem>>& buffers_of =
    *new std::map<cl_kernel, std::map<cl_uint, cl_mem>>;

// Computes times that depend on the work alone. They are longer than the driver's, so that its work has ended
// by then.
class Pace {
 public:
  struct Span {
    cl_ulong start, end;
  };

  void set_trips(cl_kernel kernel, cl_uint trips) { trips_[kernel] = trips; }
  void launch(cl_kernel kernel, cl_uint dims, const std::size_t* global, const cl_event* event) {
    std::size_t ns = 50;
    for (cl_uint d = 0; d < dims; ++d) ns *= global[d];
    if (const auto it = trips_.find(kernel); it != trips_.end()) ns *= 1 + it->second;
    add(ns, event);
  }
  // A command of this length begins when the one before it ends, or now if that was waited for.
  void add(std::size_t ns, const cl_event* event) {
    if (!paced.value) return;
    if (commands_ == 0) log_limit(paced, "begin", now());
    // A few different lengths, as a clock has to show to be believed.
    constexpr std::size_t least = 2000, different = 5;
    const cl_ulong start = waited_ ? std::max(free_, now()) : free_;
    free_ = start + least + ns + ns / 1000 * (commands_++ % different) / different;
    waited_ = false;
    if (event == nullptr) return;
    spans_[*event] = {start, free_};
    target->clRetainEvent(*event);  // no other event is to have its address
  }
  void wait() {
    if (!paced.value) return;
    const timespec until = {static_cast<time_t>(free_ / second), static_cast<long>(free_ % second)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
    waited_ = true;
  }
  std::optional<cl_ulong> stamp(cl_event event, cl_profiling_info name) const {
    const auto it = spans_.find(event);
    if (it == spans_.end()) return {};
    return name <= CL_PROFILING_COMMAND_START ? it->second.start : it->second.end;
  }

 private:
  static constexpr cl_ulong second = 1'000'000'000;
  static cl_ulong now() {
    timespec at{};
    clock_gettime(CLOCK_MONOTONIC, &at);
    return second * static_cast<cl_ulong>(at.tv_sec) + static_cast<cl_ulong>(at.tv_nsec);
  }

  cl_ulong free_ = 0, commands_ = 0;
  bool waited_ = true;
  std::map<cl_kernel, cl_uint> trips_;
  std::map<cl_event, Span> spans_;
};
Pace& pace = *new Pace;

// Changes with every command but launches, and with every argument: launches of one state may be equal.
std::atomic<unsigned long> state = 0;

cl_int CL_API_CALL set_kernel_arg(cl_kernel kernel, cl_uint index, std::size_t size, const void* value) {
  ++state;
  const cl_int status = target->clSetKernelArg(kernel, index, size, value);
  if (status == CL_SUCCESS && paced.value && index == 1 && size == sizeof(cl_uint) &&
      function_name(kernel) == "spin") {
    cl_uint trips = 0;
    std::memcpy(&trips, value, sizeof trips);
    pace.set_trips(kernel, trips);
  }
  if (status != CL_SUCCESS || rules.empty()) return status;
  cl_mem buffer = nullptr;
  if (size == sizeof buffer && value != nullptr)
    std::memcpy(static_cast<void*>(&buffer), value, sizeof buffer);
  // Any eight bytes may be an argument: those that are a buffer were made by create_buffer.
  if (buffers_made.contains(buffer))
    buffers_of[kernel][index] = buffer;
  else
    buffers_of[kernel].erase(index);
  return status;
}

void decay_buffers(cl_command_queue queue, cl_kernel kernel, const Fault& fault) {
  for (const auto& argument : buffers_of[kernel]) {
    cl_mem buffer = argument.second;
    std::size_t bytes = 0;
    if (target->clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr) != CL_SUCCESS)
      continue;
    decay().pass(bytes / 4, [&](std::size_t word, unsigned bit) {
      cl_uint value = 0;
      target->clFinish(queue);
      target->clEnqueueReadBuffer(queue, buffer, CL_TRUE, 4 * word, 4, &value, 0, nullptr, nullptr);
      value ^= cl_uint{1} << bit;
      target->clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 4 * word, 4, &value, 0, nullptr, nullptr);
      fault.log();
    });
  }
}

// A launch that waits for the next one to go first.
struct Held {
  cl_command_queue queue;
  cl_kernel kernel;
  cl_uint dims;
  std::vector<std::size_t> offset, global, local;  // empty: none was given
  cl_event promised;                               // null: none was asked for
};
std::optional<Held>& held = *new std::optional<Held>;
// Maps events that were promised to the real ones. Never released, nor are those below.
std::map<cl_event, cl_event>& kept_promises = *new std::map<cl_event, cl_event>;

cl_int hold(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const std::size_t* offset,
            const std::size_t* global, const std::size_t* local, cl_event* event) {
  const auto list = [&](const std::size_t* of) {
    return of == nullptr ? std::vector<std::size_t>() : std::vector<std::size_t>(of, of + dims);
  };
  held = {queue, kernel, dims, list(offset), list(global), list(local), nullptr};
  if (event == nullptr) return CL_SUCCESS;
  cl_context context = nullptr;
  cl_int status = target->clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context,
                                                static_cast<void*>(&context), nullptr);
  if (status == CL_SUCCESS) *event = held->promised = target->clCreateUserEvent(context, &status);
  if (status == CL_SUCCESS) target->clRetainEvent(*event);  // no other event is to have its address
  return status;
}

void let_go() {
  if (!held) return;
  const Held one = *held;
  held.reset();
  const auto pointer = [](const std::vector<std::size_t>& of) { return of.empty() ? nullptr : of.data(); };
  cl_event real = nullptr;
  target->clEnqueueNDRangeKernel(one.queue, one.kernel, one.dims, pointer(one.offset), pointer(one.global),
                                 pointer(one.local), 0, nullptr, one.promised != nullptr ? &real : nullptr);
  if (one.promised == nullptr) return;
  kept_promises[one.promised] = real;
  target->clSetUserEventStatus(one.promised, CL_COMPLETE);
}

cl_event real_one(cl_event event) {
  const auto it = kept_promises.find(event);
  return it != kept_promises.end() ? it->second : event;
}

// Leaves out the last work-group along the first dimension that has several.
std::vector<std::size_t> shortened(cl_uint dims, const std::size_t* global, const std::size_t* local) {
  std::vector<std::size_t> out(global, global + dims);
  for (cl_uint d = 0; d < dims; ++d) {
    const std::size_t group = local != nullptr ? local[d] : 1;
    if (out[d] <= group) continue;
    out[d] -= group;
    break;
  }
  return out;
}

// Returns whether a launch is to be left out.
bool is_skipped(const Fault& fault, cl_kernel kernel, const std::vector<std::size_t>& global,
                bool has_event) {
  static std::atomic<bool> is_dead = false, needs_event = false;
  static std::tuple<cl_kernel, std::vector<std::size_t>, unsigned long> last;
  const auto launch = std::tuple(kernel, global, state.load());
  const bool is_equal = std::exchange(last, launch) == launch;
  if (fault.action == Action::dead) is_dead = true;
  if (fault.action == Action::noevent) needs_event = true;
  return is_dead || (needs_event && !has_event) || fault.action == Action::skip ||
         (fault.action == Action::equal && is_equal);
}

cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                                  const std::size_t* offset, const std::size_t* global,
                                  const std::size_t* local, cl_uint waits, const cl_event* wait_list,
                                  cl_event* event) {
  if (!rules.empty()) last_launched = function_name(kernel);
  const Fault fault = next_fault(Call::enqueue);
  if (fault.action == Action::error) return fault.code;
  if (is_skipped(fault, kernel, std::vector(global, global + dims), event != nullptr))
    return target->clEnqueueMarkerWithWaitList(queue, waits, wait_list, event);
  if (local != nullptr && dims <= 3) {
    cl_ulong items = 1;
    for (cl_uint d = 0; d < dims; ++d) items *= local[d];
    if (exceeds(kwgs, items) || exceeds(maxwgs, items)) return CL_INVALID_WORK_GROUP_SIZE;
  }
  if (fault.action == Action::after && !held) return hold(queue, kernel, dims, offset, global, local, event);
  std::vector<std::size_t> fewer;
  if (fault.action == Action::brief) {
    fewer = shortened(dims, global, local);
    global = fewer.data();
  }
  const cl_int status =
      target->clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, waits, wait_list, event);
  if (status == CL_SUCCESS) pace.launch(kernel, dims, global, event);
  let_go();
  if (fault.action == Action::bits && status == CL_SUCCESS) decay_buffers(queue, kernel, fault);
  return status;
}

cl_int tell_late(const Fault& fault, cl_int status) {
  // Far longer than what a busy machine adds to a call.
  constexpr useconds_t lateness_us = 10000;
  if (fault.action == Action::late) usleep(lateness_us);
  return status;
}

cl_int CL_API_CALL wait_for_events(cl_uint count, const cl_event* events) {
  const Fault fault = next_fault(Call::wait);
  if (fault.action == Action::error) return fault.code;
  let_go();
  std::vector<cl_event> real(events, events + count);
  std::ranges::transform(real, real.begin(), real_one);
  const cl_int status = target->clWaitForEvents(count, real.data());
  pace.wait();
  return tell_late(fault, status);
}

cl_int CL_API_CALL finish(cl_command_queue queue) {
  const Fault fault = next_fault(Call::finish);
  if (fault.action == Action::error) return fault.code;
  let_go();
  if (fault.action == Action::early) return target->clFlush(queue);
  const cl_int status = target->clFinish(queue);
  pace.wait();
  return tell_late(fault, status);
}

cl_int CL_API_CALL flush(cl_command_queue queue) {
  let_go();
  return target->clFlush(queue);
}

// The events of slowed copies, and of what was copied before each.
std::map<cl_event, cl_event>& begun_by = *new std::map<cl_event, cl_event>;

// The same bytes twice are no other content: some of them are copied first, and the copy begins with them.
cl_int CL_API_CALL copy_buffer(cl_command_queue queue, cl_mem from, cl_mem to, std::size_t from_offset,
                               std::size_t to_offset, std::size_t size, cl_uint waits,
                               const cl_event* wait_list, cl_event* event) {
  ++state;
  const Fault fault = next_fault(Call::copy);
  if (fault.action == Action::error) return fault.code;
  let_go();
  cl_event first = nullptr;
  std::size_t more = 0;
  if (fault.action == Action::slower) {
    static const auto percent = setting<std::size_t>("CLWEAVE_FAULTS_SLOWER", 8);
    more = size * percent / 100;
    for (std::size_t left = paced.value ? 0 : more; left > 0;) {
      const std::size_t some = std::min(left, size);
      target->clEnqueueCopyBuffer(queue, from, to, from_offset, to_offset, some, waits, wait_list,
                                  event != nullptr && first == nullptr ? &first : nullptr);
      left -= some;
    }
  }
  const cl_int status =
      target->clEnqueueCopyBuffer(queue, from, to, from_offset, to_offset, size, waits, wait_list, event);
  if (status == CL_SUCCESS) pace.add(size + more, event);
  if (status == CL_SUCCESS && first != nullptr) {
    begun_by[*event] = first;
    target->clRetainEvent(*event);
  }
  return status;
}

// The middle, because guard zones may surround the data; the top exponent bit of a float or a double that
// ends there, because a low bit may hide under a tolerance.
void flip_bit(void* data, std::size_t size) {
  if (size == 0) return;
  const std::size_t at = std::min((size / 2 & ~std::size_t{7}) + 7, size - 1);
  static_cast<unsigned char*>(data)[at] ^= 0x40;
}

using Place = std::tuple<cl_mem, std::size_t, std::size_t>;  // with offset and size
// What the first read or map of each place gave.
std::map<Place, std::vector<unsigned char>>& first_content = *new std::map<Place, std::vector<unsigned char>>;

// Maps that are copies, by their address: of which memory.
std::map<void*, std::pair<void*, std::vector<unsigned char>*>>& copied_maps =
    *new std::map<void*, std::pair<void*, std::vector<unsigned char>*>>;

void* CL_API_CALL map_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                             std::size_t offset, std::size_t size, cl_uint waits, const cl_event* wait_list,
                             cl_event* event, cl_int* status) {
  ++state;
  const Fault fault = next_fault(Call::map);
  if (fault.action == Action::error) {
    if (status != nullptr) *status = fault.code;
    return nullptr;
  }
  let_go();
  void* const real = target->clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, size, waits,
                                                wait_list, event, status);
  const bool is_stale = fault.action == Action::stale && flags == CL_MAP_READ;
  const bool is_lost = fault.action == Action::lost && flags != CL_MAP_READ;
  if (real == nullptr || !(is_stale || is_lost)) return real;
  const auto* const bytes = static_cast<unsigned char*>(real);
  auto* const copy = new std::vector<unsigned char>(bytes, bytes + size);
  if (is_stale) *copy = first_content.try_emplace({buffer, offset, size}, *copy).first->second;
  copied_maps[copy->data()] = {real, copy};
  return copy->data();
}

cl_int CL_API_CALL unmap(cl_command_queue queue, cl_mem buffer, void* mapped, cl_uint waits,
                         const cl_event* wait_list, cl_event* event) {
  ++state;
  const auto it = copied_maps.find(mapped);
  if (it == copied_maps.end())
    return target->clEnqueueUnmapMemObject(queue, buffer, mapped, waits, wait_list, event);
  const auto [real, copy] = it->second;
  copied_maps.erase(it);
  delete copy;
  return target->clEnqueueUnmapMemObject(queue, buffer, real, waits, wait_list, event);
}

cl_int CL_API_CALL fill_buffer(cl_command_queue queue, cl_mem buffer, const void* pattern,
                               std::size_t pattern_size, std::size_t offset, std::size_t size, cl_uint waits,
                               const cl_event* wait_list, cl_event* event) {
  ++state;
  static const auto above = setting<std::size_t>("CLWEAVE_FAULTS_ABOVE", 1);
  const Fault fault = size < above ? Fault() : next_fault(Call::fill);
  if (fault.action == Action::error) return fault.code;
  let_go();
  constexpr std::size_t reach = 16 << 20;
  switch (fault.action) {
    case Action::nothing: return target->clEnqueueMarkerWithWaitList(queue, waits, wait_list, event);
    case Action::half: size = std::max(pattern_size, size / 2 / pattern_size * pattern_size); break;
    case Action::narrow: pattern_size = std::min<std::size_t>(pattern_size, 4); break;
    case Action::near:
      if (offset + size > reach) offset %= pattern_size * 1024;
      break;
    default: break;
  }
  return target->clEnqueueFillBuffer(queue, buffer, pattern, pattern_size, offset, size, waits, wait_list,
                                     event);
}

cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, std::size_t offset,
                               std::size_t size, void* data, cl_uint waits, const cl_event* wait_list,
                               cl_event* event) {
  ++state;
  const Fault fault = next_fault(Call::read);
  if (fault.action == Action::error) return fault.code;
  let_go();
  const bool flips = fault.action == Action::flip, decays = fault.action == Action::bits;
  static std::atomic<bool> is_stale = false;
  if (fault.action == Action::stale) is_stale = true;
  const bool waits_for_it = flips || decays || is_stale;
  const cl_int status = target->clEnqueueReadBuffer(queue, buffer, waits_for_it ? CL_TRUE : blocking, offset,
                                                    size, data, waits, wait_list, event);
  if (status != CL_SUCCESS) return status;
  if (flips) flip_bit(data, size);
  if (is_stale) {
    auto* const bytes = static_cast<unsigned char*>(data);
    const auto [it, is_first] =
        first_content.try_emplace({buffer, offset, size}, std::vector(bytes, bytes + size));
    if (!is_first) std::ranges::copy(it->second, bytes);
  }
  if (!decays) return status;
  decay().pass(size / 4, [&](std::size_t word, unsigned bit) {
    static_cast<unsigned char*>(data)[4 * word + bit / 8] ^= 1U << bit % 8;
    fault.log();
  });
  return status;
}

cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, std::size_t offset,
                                std::size_t size, const void* data, cl_uint waits, const cl_event* wait_list,
                                cl_event* event) {
  ++state;
  const Fault fault = next_fault(Call::write);
  if (fault.action == Action::error) return fault.code;
  let_go();
  return target->clEnqueueWriteBuffer(queue, buffer, blocking, offset, size, data, waits, wait_list, event);
}

cl_ulong stamp(cl_event event, cl_profiling_info name) {
  cl_ulong ns = 0;
  target->clGetEventProfilingInfo(event, name, sizeof ns, &ns, nullptr);
  return ns;
}

// From an origin, as a stamp since 1970 times 41.67 does not fit in 64 bits.
cl_ulong scaled(cl_event event, cl_ulong ns, double factor) {
  static const cl_ulong origin = stamp(event, CL_PROFILING_COMMAND_QUEUED);
  return origin + static_cast<cl_ulong>(
                      static_cast<cl_long>(static_cast<double>(static_cast<cl_long>(ns - origin)) * factor));
}

cl_ulong wrapped(cl_event event, cl_ulong ns) {
  static const cl_ulong last = stamp(event, CL_PROFILING_COMMAND_START);
  return (ns - last - 1) & 0xffffffffu;
}

// Returns an end that makes a command seem longer or shorter than it was.
cl_ulong falsified(cl_event event, Action how) {
  const cl_ulong start = stamp(event, CL_PROFILING_COMMAND_START),
                 end = stamp(event, CL_PROFILING_COMMAND_END);
  const cl_ulong ns = end - start;
  switch (how) {
    case Action::longer: return start + ns * 6 / 5;
    case Action::shorter: return start + ns * 17 / 20;
    case Action::halved: return ns > 30'000'000 ? start + ns / 2 : end;
    case Action::end_early: return ns > 5'000'000 ? end - ns / 12 : end;
    default: return end;
  }
}

cl_int CL_API_CALL get_event_profiling_info(cl_event event, cl_profiling_info name, std::size_t size,
                                            void* value, std::size_t* size_ret) {
  const Fault fault = next_fault(Call::profile);
  if (fault.action == Action::error) return fault.code;
  if (fault.action == Action::untouched) return CL_SUCCESS;
  let_go();
  event = real_one(event);
  if (const auto it = begun_by.find(event); it != begun_by.end() && name <= CL_PROFILING_COMMAND_START)
    event = it->second;
  const cl_int status = target->clGetEventProfilingInfo(event, name, size, value, size_ret);
  if (status != CL_SUCCESS || value == nullptr) return status;
  auto& ns = *static_cast<cl_ulong*>(value);
  ns = pace.stamp(event, name).value_or(ns);
  constexpr double mach_ticks_to_ns = 41.67;  // Apple M1 event times have been off by this factor
  switch (fault.action) {
    case Action::zero: ns = 0; break;
    case Action::constant: ns = name - CL_PROFILING_COMMAND_QUEUED; break;
    case Action::backward:
      if (name == CL_PROFILING_COMMAND_START)
        ns = std::max(ns + 1, stamp(event, CL_PROFILING_COMMAND_END));
      else if (name == CL_PROFILING_COMMAND_END)
        ns = stamp(event, CL_PROFILING_COMMAND_START);
      break;
    case Action::fast: ns = scaled(event, ns, 1 / mach_ticks_to_ns); break;
    case Action::slow: ns = scaled(event, ns, mach_ticks_to_ns); break;
    case Action::wrap: ns = wrapped(event, ns); break;
    case Action::longer:
    case Action::shorter:
    case Action::halved:
    case Action::end_early:
      if (name == CL_PROFILING_COMMAND_END) ns = falsified(event, fault.action);
      break;
    case Action::later:
      if (name == CL_PROFILING_COMMAND_END) ns += 1'000'000;
      break;
    default: break;
  }
  return status;
}

cl_icd_dispatch layer{};

}  // namespace

extern "C" {

[[gnu::visibility("default")]] cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, std::size_t size,
                                                                 void* value, std::size_t* size_ret) {
  constexpr cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  constexpr char text[] = "clweave_fault_layer";
  const bool asks_version = name == CL_LAYER_API_VERSION;
  if (!asks_version && name != CL_LAYER_NAME) return CL_INVALID_VALUE;
  const void* const from = asks_version ? static_cast<const void*>(&version) : text;
  const std::size_t bytes = asks_version ? sizeof version : sizeof text;
  if (value != nullptr && size < bytes) return CL_INVALID_VALUE;
  if (value != nullptr) std::memcpy(value, from, bytes);
  if (size_ret != nullptr) *size_ret = bytes;
  return CL_SUCCESS;
}

[[gnu::visibility("default")]] cl_int CL_API_CALL clInitLayer(cl_uint num_entries,
                                                              const cl_icd_dispatch* target_dispatch,
                                                              cl_uint* num_entries_ret,
                                                              const cl_icd_dispatch** layer_dispatch_ret) {
  // Loaders know more or fewer entry points than this header; all that are replaced are in OpenCL 1.2.
  constexpr std::size_t needed = offsetof(cl_icd_dispatch, clEnqueueMarkerWithWaitList) / sizeof(void*);
  if (target_dispatch == nullptr || num_entries_ret == nullptr || layer_dispatch_ret == nullptr ||
      num_entries <= needed)
    return CL_INVALID_VALUE;
  const std::size_t known = std::min<std::size_t>(num_entries, sizeof(cl_icd_dispatch) / sizeof(void*));

  if (const char* const text = std::getenv("CLWEAVE_FAULTS"); text != nullptr && *text != '\0') {
    std::string_view rest = text;
    for (std::size_t comma = 0; comma != std::string_view::npos;) {
      comma = rest.find(',');
      add_fault(rest.substr(0, comma));
      if (comma != std::string_view::npos) rest.remove_prefix(comma + 1);
    }
  }

  target = target_dispatch;
  acts = std::getenv("CLWEAVE_FAULTS_DEVICE") == nullptr;
  std::memcpy(&layer, target_dispatch, known * sizeof(void*));
  layer.clGetPlatformIDs = get_platform_ids;
  layer.clGetPlatformInfo = get_platform_info;
  layer.clGetDeviceIDs = get_device_ids;
  layer.clGetDeviceInfo = get_device_info;
  layer.clCreateContext = create_context;
  layer.clGetKernelWorkGroupInfo = get_kernel_work_group_info;
  layer.clCreateBuffer = create_buffer;
  layer.clBuildProgram = build_program;
  layer.clGetProgramBuildInfo = get_program_build_info;
  layer.clEnqueueNDRangeKernel = enqueue_kernel;
  layer.clWaitForEvents = wait_for_events;
  layer.clFinish = finish;
  layer.clSetKernelArg = set_kernel_arg;
  layer.clFlush = flush;
  layer.clEnqueueCopyBuffer = copy_buffer;
  layer.clEnqueueReadBuffer = read_buffer;
  layer.clEnqueueWriteBuffer = write_buffer;
  layer.clEnqueueMapBuffer = map_buffer;
  layer.clEnqueueUnmapMemObject = unmap;
  layer.clEnqueueFillBuffer = fill_buffer;
  layer.clCreateCommandQueue = create_queue;
  if (known > offsetof(cl_icd_dispatch, clCreateCommandQueueWithProperties) / sizeof(void*))
    layer.clCreateCommandQueueWithProperties = create_queue_with_properties;
  layer.clGetEventProfilingInfo = get_event_profiling_info;
  *layer_dispatch_ret = &layer;
  *num_entries_ret = static_cast<cl_uint>(known);
  return CL_SUCCESS;
}

}  // extern "C"
// NOLINTEND(bugprone-sizeof-expression)
