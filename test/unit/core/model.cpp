// SPDX-License-Identifier: Apache-2.0
#include <dlnb/model.hpp>

#include <gtest/gtest.h>

namespace dlnb {
namespace {

TEST(Model, SumsItsTensors) {
  const Model model{
      .name = "two parts",
      .parts = {{.kind = PartKind::attention, .layer = 0, .tensors = {{"q", 4, 3}, {"norm", 4}}},
                {.kind = PartKind::mlp,
                 .layer = 0,
                 .tensors = {{.name = "up", .rows = 8, .columns = 4, .expert = true, .copies = 2}}}}};

  EXPECT_EQ(model.parts[0].elements(), 4 * 3 + 4);
  EXPECT_EQ(model.parameters(), 4 * 3 + 4 + 2 * 8 * 4);
  EXPECT_EQ(model.expert_parameters(), 2 * 8 * 4);
  EXPECT_EQ(model.tensors(), 1 + 1 + 2);
}

TEST(Model, NamesItsParts) { EXPECT_STREQ(name_of(PartKind::convolution), "convolution"); }

}  // namespace
}  // namespace dlnb
