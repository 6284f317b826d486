// SPDX-License-Identifier: Apache-2.0
// The plans that live and simulated runs are held together on: the five named ones, small enough for 8 ranks, and
// compositions that no named plan has.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"

namespace dlnb::test {

struct Tried {
  std::string name;
  std::string model;
  std::string plan;
  std::vector<std::pair<std::string, std::string>> changes;
  std::string ranks = "8";
};

inline std::vector<Tried> tried_plans() {
  return {
      {"dp", "vit-b", "dp", {}},
      {"fsdp", "llama2-7b", "fsdp", {{"plan.fsdp.degree", "4"}}},
      {"dp_pp", "llama2-7b", "dp+pp", {{"plan.pipeline.stages", "4"}, {"plan.pipeline.microbatches", "4"}}},
      {"dp_pp_tp",
       "llama2-7b",
       "dp+pp+tp",
       {{"plan.pipeline.stages", "2"}, {"plan.pipeline.microbatches", "4"}, {"plan.tensor.degree", "2"}}},
      {"dp_pp_ep",
       "mixtral-8x7b",
       "dp+pp+ep",
       {{"plan.pipeline.stages", "2"}, {"plan.pipeline.microbatches", "4"}, {"plan.expert.degree", "2"}}},
      {"ddp_buckets", "gpt2-l", "data=8", {}},
      {"zero_2", "gpt2-l", "data={degree=8,zero=2}", {}},
      {"hybrid_shard", "llama3-8b", "fsdp=4,data=2", {}},
      {"keep_gathered", "llama3-8b", "fsdp={degree=8,reshard_after_forward=false}", {}},
      {"tensor_fsdp", "llama3-8b", "tensor=2,fsdp=4", {}},
      {"tensor_fsdp_data", "llama3-8b", "tensor=2,fsdp=2,data=2", {}},
      {"sequence_parallel_data", "llama2-7b", "tensor={degree=4,sequence_parallel=true},data=2", {}},
      {"1f1b_expert_data",
       "mixtral-8x7b",
       "pipeline={stages=2,microbatches=4,schedule=\"1f1b\"},expert=2,data=2",
       {}},
      {"1f1b_fsdp", "llama2-7b", "pipeline={stages=4,microbatches=8,schedule=\"1f1b\"},fsdp=2", {}},
      {"interleaved_data",
       "llama2-7b",
       "pipeline={stages=4,microbatches=4,schedule=\"interleaved\",virtual_stages=2},data=2",
       {}},
      {"interleaved_tensor_fsdp",
       "llama2-7b",
       "tensor=2,fsdp=2,pipeline={stages=2,microbatches=4,schedule=\"interleaved\",virtual_stages=2}",
       {}},
      {"context_data", "llama3-8b", "context=4,data=2", {}},
      {"context_tensor_pipeline_data",
       "llama3-8b",
       "tensor=2,context=2,pipeline={stages=2,microbatches=2,schedule=\"1f1b\"},data=2",
       {},
       "16"},
      {"expert_tensor_pipeline_data",
       "mixtral-8x7b",
       "tensor=2,expert=2,pipeline={stages=2,microbatches=4,schedule=\"1f1b\"},data=2",
       {},
       "16"},
      {"expert_fsdp_data", "mixtral-8x7b", "expert=2,fsdp=2,data=2", {}},
  };
}

/// The spec of a tried plan with messages and compute small enough for any machine.
inline RunSpec spec_of(const Tried& tried, const std::string& backend) {
  std::vector<Assignment> all{{"plan", tried.plan, "--plan"},
                              {"model", tried.model, "--model"},
                              {"ranks", tried.ranks, "--ranks"},
                              {"backend", backend, "--backend"},
                              {"machine", "dgx-a100", "--machine"},
                              {"device", "a100", "--device"},
                              {"iterations", "2", "--iterations"},
                              {"message_scale", "1/1000000", "--message-scale"},
                              {"compute_scale", "1/100000", "--compute-scale"}};
  if (tried.ranks == "16") all[4].text = "leonardo";
  for (const auto& [key, text] : tried.changes) all.push_back({key, text, "--set"});
  return read_spec({}, make_overrides(all));
}

}  // namespace dlnb::test
