# A plural folder becomes a registry: every <name>.cpp in it defines
#   namespace dlnb::<folder> { extern constinit const <Type> <name>{...}; }
# and the generated file defines dlnb::<folder>::all(), sorted by file name. A new file needs no other edit.
function(dlnb_registry target folder type header)
  get_filename_component(space ${folder} NAME)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/${folder}/*.cpp)
  list(SORT files)
  set(declarations "")
  set(entries "")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME_WE)
    string(APPEND declarations "extern constinit const ${type} ${name};\n")
    string(APPEND entries "&${name}, ")
  endforeach()
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/generated/${space}_registry.cpp)
  file(CONFIGURE OUTPUT ${generated} @ONLY CONTENT
"// Generated from src/${folder}/ by cmake/Registry.cmake.
#include \"${header}\"

namespace dlnb::${space} {
${declarations}
namespace {
constexpr const ${type}* entries[] = {${entries}};
}

Registry<${type}> all() { return entries; }
}  // namespace dlnb::${space}
")
  target_sources(${target} PRIVATE ${files} ${generated})
endfunction()
