# The module for oneCCL on the host's processors: built where DLNB_ONECCL, build/tools/oneccl (scripts/install oneccl)
# or a oneAPI installation has its headers and library.
set(DLNB_ONECCL "" CACHE PATH "Folder with include/oneapi/ccl.hpp and lib/; empty: looked for; OFF: no module")

function(dlnb_oneccl_module)
  set(places ${DLNB_ONECCL})
  if("${DLNB_ONECCL}" STREQUAL "")
    set(places ${PROJECT_SOURCE_DIR}/build/tools/oneccl $ENV{CCL_ROOT} $ENV{ONEAPI_ROOT}/ccl/latest)
  endif()
  find_path(headers oneapi/ccl.hpp PATHS ${places} PATH_SUFFIXES include NO_DEFAULT_PATH NO_CACHE)
  # The build without SYCL first: it needs no accelerator's libraries.
  find_library(library NAMES libccl.so libccl.a PATHS ${places} NO_DEFAULT_PATH NO_CACHE
               PATH_SUFFIXES lib/ccl/cpu/lib lib/cpu lib/cpu_icc lib)
  if(NOT headers OR NOT library)
    message(STATUS "oneCCL module: not built (not found; scripts/install oneccl, CCL_ROOT or DLNB_ONECCL)")
    return()
  endif()
  message(STATUS "oneCCL module: ${library}")

  get_filename_component(folder ${headers}/.. ABSOLUTE)
  cmake_path(GET library PARENT_PATH beside_library)
  set(sources calls keys settings sums transport)
  set(libraries ${library})
  if(library MATCHES "[.]a$")
    list(APPEND sources tracing)
    # The archive was built by Intel's compiler, whose libraries it wants; they stay in their folder.
    list(APPEND libraries -Wl,--exclude-libs,ALL -L${folder}/lib -Wl,--push-state,--as-needed -lirc -lsvml -limf -lintlc
         -lhwloc -Wl,--pop-state ${CMAKE_DL_LIBS} Threads::Threads)
  endif()
  list(TRANSFORM sources REPLACE "(.+)" "modules/oneccl/\\1.cpp")
  dlnb_module(dlnb_oneccl SOURCES ${sources} reduction.cpp store.cpp INCLUDES ${headers} LIBRARIES ${libraries})
  set(rpath "$ORIGIN;${folder}/lib;${beside_library}")
  # What scripts/install put into this tree goes with the module to where it is installed.
  cmake_path(IS_PREFIX PROJECT_SOURCE_DIR ${folder} in_this_tree)
  if(in_this_tree)
    set(rpath "$ORIGIN")
    # Of libintlc only this name is a library; the other is a text for the linker.
    set(beside libirc.so libimf.so libsvml.so libirng.so libintlc.so.5)
    list(TRANSFORM beside PREPEND ${folder}/lib/)
    install(FILES ${beside} DESTINATION ${DLNB_MODULES_INSTALL})
  endif()
  set_target_properties(dlnb_oneccl PROPERTIES BUILD_RPATH "${folder}/lib;${beside_library}" INSTALL_RPATH "${rpath}")
endfunction()

dlnb_oneccl_module()
