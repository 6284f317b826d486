# cmake -DPAGE=index.html -DOUTPUT=web_page.cpp -P EmbedPage.cmake
# One raw string literal: g++ reads it in a fraction of the time an array of numbers takes.
file(READ ${PAGE} page)
file(SIZE ${PAGE} size)
string(LENGTH "${page}" length)
if(NOT length EQUAL size)
  message(FATAL_ERROR "${PAGE}: read ${length} of ${size} bytes; is there a NUL in the page?")
endif()
string(FIND "${page}" ")web_page\"" end)
if(NOT end EQUAL -1)
  message(FATAL_ERROR "${PAGE} contains the delimiter of the literal it is to be kept in")
endif()
file(WRITE ${OUTPUT} "// Generated from ${PAGE} by cmake/EmbedPage.cmake.
#include \"report/web_page.hpp\"

namespace dlnb {

std::string_view web_page() { return R\"web_page(${page})web_page\"; }

}  // namespace dlnb
")
