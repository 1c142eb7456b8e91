// SPDX-License-Identifier: Apache-2.0
// graph: the charts that a family asks for (View::graphs), as numbers: what the HTML report and SVG files
// draw.
#pragma once
#include <string>
#include <vector>

#include "analysis/rows/metric.hpp"
#include "results/results_set.hpp"
#include "suite/family.hpp"

namespace clweave::charts {

struct GraphPoint {
  std::size_t series = 0, column = 0;  // into Drawn::series, Drawn::columns
  double x = 0, y = 0, low = 0, high = 0;
  std::string launch;  // which of several configurations was the fastest
  bool doubtful = false;
};

struct GraphMark {
  double x;
  std::string text;
};

// What the points are held against: a curve of another program, of a copy, or of a law.
struct GraphReference {
  std::string name;
  std::vector<std::pair<double, double>> points;  // by x
};

// Of one device, and of one value of each axis that splits the graph.
struct GraphPanel {
  const DeviceResults* device = nullptr;
  std::string at;       // those values: "n=1024 type=uint"
  std::string finding;  // a sentence
  std::vector<GraphPoint> points;
  std::vector<GraphMark> marks;
  std::vector<GraphPoint> fits;  // of parabolas
  std::vector<GraphReference> references;
  std::string note;  // what is not drawn
};

struct DrawnGraph {
  const Family* family = nullptr;
  Graph graph;
  std::string x_title, y_title, unit;  // unit as number_text takes it
  std::vector<std::string> series, columns;
  bool log_x = false, log_y = false;
  bool low_is_good = false;  // a time, or a multiple of one
  std::vector<GraphPanel> panels;
};

// The graphs of a family, or the one of its table where it has none; without those that no two cases fill.
// What is drawn of a case is the middle of its warm runs. The set must outlive them.
std::vector<DrawnGraph> graphs_of(const Family&, const ResultsSet&);
// One of them, as said: `Graph` may come from the command line.
DrawnGraph drawn(const Graph&, const Family&, const ResultsSet&);

// Each device by a name that no other has.
std::vector<std::string> device_labels(const std::vector<const DeviceResults*>&);

}  // namespace clweave::charts
