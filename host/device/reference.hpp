// SPDX-License-Identifier: Apache-2.0
// reference: what the reference kernels of a plan compute: by one plain launch on the device, and on a second
// driver where there is one, so that the fault of one driver does not hide.
#pragma once
#include <string>

#include "device/cl.hpp"
#include "device/program.hpp"
#include "suite/plan.hpp"

namespace clweave::device {

class OpenDevice;

class References {
 public:
  // `program`: of `source`, on the device. All arguments must outlive it.
  References(OpenDevice& device, const Plan& plan, const Source& source, const cl::Program& program)
      : device_(device), plan_(plan), source_(source), program_(program) {}

  // Returns the check with what its reference wrote in place of the reference; any other as it is. The result
  // is kept in the host's memory. Throws `wrong_result` if the reference leaves elements unwritten, writes
  // behind a buffer, or computes other values on the second driver; and what a failed launch throws.
  Check known(const Check&);

  // Says why the second driver did not run them; empty if it did, or there is none.
  const std::string& remark() const { return remark_; }

 private:
  std::vector<std::byte> on_second_driver(const Check&);

  OpenDevice& device_;
  const Plan& plan_;
  const Source& source_;
  const cl::Program& program_;
  std::string remark_;
};

}  // namespace clweave::device
