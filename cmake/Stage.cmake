# A singular folder in src/ is a stage: one static library of the files in it (not of the plural folders below it,
# which dlnb_registry adds). A stage sees include/, core/ and itself; tools/check_layers holds it to that.
function(dlnb_stage folder)
  cmake_parse_arguments(stage "" "" "LIBRARIES" ${ARGN})
  get_filename_component(name ${folder} NAME)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/${folder}/*.cpp)
  if(NOT files)
    set(files ${CMAKE_CURRENT_BINARY_DIR}/generated/empty.cpp)
    file(WRITE ${files} "")
  endif()
  add_library(dlnb_${name} STATIC ${files})
  target_include_directories(dlnb_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
                                          PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
  target_link_libraries(dlnb_${name} PRIVATE $<BUILD_INTERFACE:dlnb_warnings> fmt::fmt ${stage_LIBRARIES})
  dlnb_precompile(dlnb_${name})
  if(NOT name MATCHES "^(nouns|core)$")
    target_link_libraries(dlnb_${name} PUBLIC dlnb_core)
  endif()
endfunction()
