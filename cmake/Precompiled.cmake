# What most files include, parsed once: for builds of which every file has been compiled by itself elsewhere, as the
# sanitizers' have, because a file that forgets an include compiles all the same.
option(DLNB_PRECOMPILE "Parse common headers once" OFF)

# dlnb_precompile(target [test]): with googletest's headers too.
function(dlnb_precompile target)
  if(NOT DLNB_PRECOMPILE)
    return()
  endif()
  set(headers <algorithm> <array> <chrono> <cmath> <cstdint> <cstdlib> <filesystem> <fstream> <functional> <map> <memory>
              <optional> <set> <span> <sstream> <string> <string_view> <thread> <utility> <vector> <fmt/format.h>
              <dlnb/error.hpp> <dlnb/options.hpp> <dlnb/schedule.hpp> <dlnb/spec.hpp> <dlnb/trace.hpp>)
  set(common dlnb_headers_of_stages)
  set(libraries dlnb_warnings fmt::fmt)
  # Of a program every file is compiled with -fPIE, of a library with -fPIC.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)
    set(common dlnb_headers_of_programs)
  endif()
  if("test" IN_LIST ARGN)
    list(APPEND headers <gtest/gtest.h> <gmock/gmock.h>)
    set(common dlnb_headers_of_tests)
    list(APPEND libraries GTest::gtest GTest::gmock)
  endif()
  if(NOT TARGET ${common})
    set(empty ${PROJECT_BINARY_DIR}/generated/empty.cpp)
    file(WRITE ${empty} "")
    add_library(${common} OBJECT ${empty})
    target_include_directories(${common} PRIVATE ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${common} PRIVATE ${libraries})
    target_precompile_headers(${common} PRIVATE ${headers})
    if(type STREQUAL EXECUTABLE)
      set_target_properties(${common} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${common} PRIVATE -fPIE)
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${common})
endfunction()
