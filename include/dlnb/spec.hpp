// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <dlnb/document.hpp>
#include <dlnb/units.hpp>

namespace dlnb {

/// Whose program: the paper's algorithms, or what the framework issues.
enum class Flavour : std::uint8_t { paper, pytorch };

/// One pass of a parallel plan, as written: `pipeline = { stages = 8 }` or `data = "rest"`.
struct PassSpec {
  std::string pass;
  Value options;  ///< a table, an integer degree, or "rest"
};

/// A parallel plan: a named list of passes, or a free composition.
struct PlanSpec {
  std::string name;  ///< "dp+pp", or the composition as text
  Flavour flavour = Flavour::paper;
  bool literal = false;  ///< the paper's listing to the letter, slips included
  std::vector<PassSpec> passes;
};

/// What the user asked for. `origin` keeps where every value came from.
struct RunSpec {
  std::string model = "vit-h";
  std::string device;   ///< empty: the machine's own device (simulate) or a100 (run)
  std::string machine;  ///< simulate: a machine name or file
  int nodes = 0;        ///< simulate: how many nodes it has; 0: as its file says
  PlanSpec plan;
  std::string cost_model = "paper";
  std::int64_t ranks = 0;
  std::int64_t batch = 16;    ///< samples per replica and step
  std::int64_t sequence = 0;  ///< tokens per sample; 0: the model's own
  DataType dtype = DataType::bfloat16;
  DataType gradient_dtype = DataType::bfloat16;
  std::string recompute = "none";  ///< none | selective | full: activations computed again, `exact` only
  bool fused_attention = true;     ///< scores stay on chip; else they are written and kept, `exact` only

  double message_scale = 1;  ///< bytes are multiplied by it; 0: empty messages
  double compute_scale = 1;  ///< compute times are multiplied by it; 0: no compute

  std::string backend = "mpi";     ///< live
  std::string buffers = "auto";    ///< auto | host | cuda | hip: whose memory is sent and received
  std::vector<std::string> hosts;  ///< where ranks are started; empty: here
  std::string agent;               ///< program called as `agent HOST COMMAND…` that starts something there
  std::string testbed;             ///< NAME or NAME:h1,h2 of a testbed that is up: says hosts and agent
  std::string compute = "host";    ///< host | device: who is busy while a compute phase is emulated
  double compute_share = 1;        ///< of the device's multiprocessors that are
  std::string progress = "auto";   ///< auto | poll | thread | none
  std::string binding = "auto";    ///< auto | none | core | numa | gpu
  int iterations = 6;
  int warmup = 1;
  bool forever = false;  ///< until a signal ends it
  Seconds min_time{0};
  Seconds max_time{0};  ///< 0: none
  double spread = 0;    ///< relative half-width of the 95 % confidence interval; 0: not asked
  std::int64_t max_iterations = 10'000;  ///< where `spread` is asked
  Seconds watchdog{60};                  ///< longest wait for one operation before a rank counts as lost
  std::string recorder;  ///< folder of the flight recorders; empty: a private one on every host
  bool verify = true;

  std::string placement = "linear";  ///< simulate
  std::string devices;               ///< simulate: "0-3,8" instead of a placement
  std::string network = "max_min";
  std::int64_t seed = 1;
  Value noise;  ///< simulate: an array of tables { kind, … }, checked where it is used; empty: none
  double overlap_slowdown =
      0;  ///< simulate: compute takes so many times as long beside communication; 0: the machine's
  std::string lower;  ///< simulate: collectives as messages, by this algorithm; empty: as coupled flows

  Value origin;
};

/// One of the jobs that run side by side on one machine.
struct JobSpec {
  std::string name;  ///< empty: the only one
  RunSpec run;
  Seconds start{0};     ///< after the first
  bool repeat = false;  ///< goes on until the others have finished
};

}  // namespace dlnb
