// SPDX-License-Identifier: Apache-2.0
// openmetrics: a report's rows as the text that Prometheus and its kind read.
#pragma once
#include <string>

#include "report/report.hpp"

namespace clweave::report {

// A gauge for each column of numbers, with a sample for each row that has one; text, flags and lists of the
// row are its labels, but what explains or concludes in words is left out, for each wording would be another
// time series. In base units: time_s is clweave_time_seconds, gb_per_s is clweave_bytes_per_second, of 1e9
// bytes; column `status` is gauge clweave_ok, 1 or 0. Both OpenMetrics 1.0 and Prometheus' text format 0.0.4.
void openmetrics(const Report&, const Screen&, const Sink&);

}  // namespace clweave::report
