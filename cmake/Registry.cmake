# A plural folder becomes a registry: every <name>.cpp in it defines
#   namespace dlnb::<folder> { extern constinit const <Type> <name>{...}; }
# and the generated file defines dlnb::<folder>::all(), sorted by file name. A new file needs no other edit.
# Folders outside this tree can hold more of them, at the same places: -DDLNB_EXTENSIONS=mine takes
# mine/schedule/passes/<name>.cpp as if it stood in src/.
set(DLNB_EXTENSIONS "" CACHE PATH "Folders with more passes, topologies, metrics, …, arranged as src/ is")

function(dlnb_registry target folder type header)
  get_filename_component(space ${folder} NAME)
  set(files "")
  foreach(root IN LISTS DLNB_EXTENSIONS ITEMS ${CMAKE_CURRENT_SOURCE_DIR}/src)
    file(GLOB here CONFIGURE_DEPENDS ${root}/${folder}/*.cpp)
    list(APPEND files ${here})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY dlnb_registered ${files})
  list(SORT files COMPARE FILE_BASENAME)
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

# A file of an extension that no registry took is a misspelt folder; saying nothing would look as if it were built.
function(dlnb_check_extensions)
  get_property(registered GLOBAL PROPERTY dlnb_registered)
  foreach(root IN LISTS DLNB_EXTENSIONS)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${root}/*.cpp)
    if(NOT files)
      message(FATAL_ERROR "DLNB_EXTENSIONS: there is no .cpp file in ${root}")
    endif()
    foreach(file IN LISTS files)
      if(NOT file IN_LIST registered)
        file(RELATIVE_PATH place ${root} ${file})
        message(FATAL_ERROR "DLNB_EXTENSIONS: ${root} holds ${place}, which is in no folder of extensions "
                            "(ARCHITECTURE.md lists them: schedule/passes, machine/topologies, …)")
      endif()
    endforeach()
  endforeach()
endfunction()
cmake_language(DEFER CALL dlnb_check_extensions)
