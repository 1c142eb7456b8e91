// namespaces: one per folder of host/, in the order of the data flow; each sees the names of those before it.
// cmake/check_includes.cmake holds the includes to the same order.
#pragma once

namespace clweave {

namespace os {}
namespace base {
using namespace os;
}
namespace os {
using namespace base;  // its plain headers, see cmake/check_includes.cmake
}
namespace suite {
using namespace base;
}
namespace families {
using namespace suite;
}
namespace results {
using namespace suite;
}
namespace description {
using namespace results;
}
namespace power {
using namespace suite;
}
namespace report {
using namespace results;
}
namespace device {
using namespace results;
using namespace power;
}  // namespace device
namespace compilers {
using namespace device;
using namespace report;
}  // namespace compilers
namespace campaign {
using namespace device;
}
// The folders of analysis/.
namespace rows {
using namespace report;
}
namespace profile {
using namespace rows;
}
namespace compare {
using namespace rows;
}
namespace claims {
using namespace rows;
}
namespace fleet {
using namespace compare;
}
namespace charts {
using namespace rows;
}
namespace page {
using namespace charts;
using namespace profile;
using namespace compare;
using namespace claims;
}  // namespace page
namespace commands {
using namespace page;
using namespace fleet;
using namespace campaign;
using namespace compilers;
using namespace description;
}  // namespace commands
namespace baselines {
using namespace commands;
}

}  // namespace clweave
