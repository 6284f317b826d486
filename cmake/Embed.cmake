# dlnb_embed(target file function header): the text of a file as a string the program carries; the generated
# source defines std::string_view dlnb::<function>(), which the header declares.
if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.25)
  # One raw string literal: g++ reads it in a fraction of the time an array of numbers takes.
  file(READ ${file} text)
  file(SIZE ${file} size)
  string(LENGTH "${text}" length)
  if(NOT length EQUAL size)
    message(FATAL_ERROR "${file}: read ${length} of ${size} bytes; is there a NUL in it?")
  endif()
  string(FIND "${text}" ")embedded\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${file} contains the delimiter of the literal it is to be kept in")
  endif()
  file(WRITE ${output} "// Generated from ${file} by cmake/Embed.cmake.
#include \"${header}\"

namespace dlnb {

std::string_view ${function}() { return R\"embedded(${text})embedded\"; }

}  // namespace dlnb
")
  return()
endif()

set(DLNB_EMBED ${CMAKE_CURRENT_LIST_FILE})

function(dlnb_embed target file function header)
  set(generated ${PROJECT_BINARY_DIR}/generated/${function}.cpp)
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -Dfile=${file} -Dfunction=${function} -Dheader=${header} -Doutput=${generated}
            -P ${DLNB_EMBED}
    DEPENDS ${file} ${DLNB_EMBED}
    COMMENT "Embedding ${function}"
    VERBATIM)
  target_sources(${target} PRIVATE ${generated})
endfunction()
