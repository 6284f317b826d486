# The report page: web/ is built by npm into one HTML file, which dlnb_report carries as a string.
# npm works on a copy in the build tree, so that several build trees can share one source tree.
option(DLNB_WEB "Build the report page (needs Node.js 20.19 or newer, and npm)" ON)

if(NOT DLNB_WEB)
  target_sources(dlnb_report PRIVATE ${PROJECT_SOURCE_DIR}/src/report/page/absent.cpp)
  return()
endif()

find_program(DLNB_NODE node)
find_program(DLNB_NPM npm)
if(NOT DLNB_NODE OR NOT DLNB_NPM)
  message(FATAL_ERROR "The report page needs Node.js 20.19 or newer and npm, and they were not found.\n"
                      "Install them (Debian: apt install nodejs npm), or configure with -DDLNB_WEB=OFF: everything "
                      "but `dlnetbench report` to HTML works without the page.")
endif()
execute_process(COMMAND ${DLNB_NODE} --version OUTPUT_VARIABLE node_version OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REGEX REPLACE "^v" "" node_version "${node_version}")
if(node_version VERSION_LESS 20.19)
  message(FATAL_ERROR "The report page needs Node.js 20.19 or newer; ${DLNB_NODE} is ${node_version}.\n"
                      "Point -DDLNB_NODE=… and -DDLNB_NPM=… at a newer one, or configure with -DDLNB_WEB=OFF.")
endif()

set(web_source ${PROJECT_SOURCE_DIR}/web)
set(web_build ${PROJECT_BINARY_DIR}/web)
set(web_packages ${web_source}/package.json ${web_source}/package-lock.json ${web_source}/.npmrc)
set(web_settings ${web_source}/tsconfig.json ${web_source}/vite.config.ts ${web_source}/index.html)
file(GLOB_RECURSE web_files CONFIGURE_DEPENDS ${web_source}/src/* ${web_source}/test/*)

add_custom_command(
  OUTPUT ${web_build}/packages.stamp
  COMMAND ${CMAKE_COMMAND} -E make_directory ${web_build}
  COMMAND ${CMAKE_COMMAND} -E copy ${web_packages} ${web_build}
  COMMAND ${CMAKE_COMMAND} -E chdir ${web_build} ${DLNB_NPM} ci --no-audit --no-fund --loglevel=error
  COMMAND ${CMAKE_COMMAND} -E touch ${web_build}/packages.stamp
  DEPENDS ${web_packages}
  COMMENT "Installing the packages of the report page"
  VERBATIM)

# The copies are removed first: a source file that was deleted must not live on in the page.
add_custom_command(
  OUTPUT ${web_build}/dist/index.html
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${web_build}/src ${web_build}/test ${web_build}/dist
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${web_source}/src ${web_build}/src
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${web_source}/test ${web_build}/test
  COMMAND ${CMAKE_COMMAND} -E copy ${web_settings} ${web_build}
  COMMAND ${CMAKE_COMMAND} -E chdir ${web_build} ${DLNB_NPM} run --silent build
  DEPENDS ${web_build}/packages.stamp ${web_settings} ${web_files}
  COMMENT "Building the report page"
  VERBATIM)

dlnb_embed(dlnb_report ${web_build}/dist/index.html web_page report/web_page.hpp)
