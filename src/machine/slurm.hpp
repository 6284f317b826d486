// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace dlnb {

/// Nodes or switches that a batch system's list may name; more would be a slip, and take seconds to write out.
inline constexpr std::int64_t most_named_nodes = 1 << 20;

/// The names in a Slurm node list, in order: "n[1-3,07],m5" → n1 n2 n3 n07 m5; several brackets vary like digits, the last
/// fastest. Throws UserError at `where` where it is none, names a thing twice or more than `most`.
std::vector<std::string> slurm_node_list(std::string_view text, const std::string& where, std::int64_t most);

/// A switch (or block) of the batch system.
struct SlurmSwitch {
  std::string name;
  int parent = -1;         ///< -1: the top
  int level = 0;           ///< 0: nodes hang on it
  std::vector<int> nodes;  ///< into SlurmTree::nodes
};

/// The machine as the batch system sees it. The switches form one tree; where the file has several tops a switch
/// without a name joins them.
struct SlurmTree {
  std::vector<std::string> nodes;  ///< switch after switch, in the order of the file
  std::vector<SlurmSwitch> switches;
};

/// What topology.conf (topology/tree, or topology/block with a block as a switch) or `scontrol show topology` says.
/// `name` is what messages call it. Throws UserError with name:line.
SlurmTree parse_slurm_topology(std::string_view text, const std::string& name);
SlurmTree read_slurm_topology(const std::filesystem::path& file, const std::string& where);

/// What knows the names of the nodes on it.
class NamedNodes {
 public:
  virtual ~NamedNodes() = default;
  virtual std::vector<std::string> node_names() const = 0;
};

}  // namespace dlnb
