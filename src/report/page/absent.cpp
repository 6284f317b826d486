// SPDX-License-Identifier: Apache-2.0
#include <dlnb/error.hpp>

#include "report/web_page.hpp"

namespace dlnb {

std::string_view web_page() {
  throw Unavailable("report", "this dlnetbench was built without the report page",
                    "configure with -DDLNB_WEB=ON, which needs Node.js 20.19 or newer and npm");
}

}  // namespace dlnb
