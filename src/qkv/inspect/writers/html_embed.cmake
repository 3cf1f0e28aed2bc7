# Embeds the page of the html writer into the library. The hashes are those that the page's content security policy
# names: nothing but this very script and this very style sheet has an effect in it.

# The bytes of `text` as the body of a C++ array of char, which has no limit on its length as a literal would.
function(qkv_html_bytes text_hex result)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${text_hex}")
  string(REPEAT "'[^']*'," 12 line)
  string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
  set(${result} "${bytes}" PARENT_SCOPE)
endfunction()

function(qkv_embed_html target)
  set(source "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  set(made "${CMAKE_CURRENT_BINARY_DIR}/html_page")
  set(scripts html_data.js html_colour.js html_map.js html_heads.js html_text.js html_page.js)

  file(READ "${source}/html_page.html" page)
  file(READ "${source}/html_page.css" style)
  set(script "(() => {\n\"use strict\";\n")
  foreach(name IN LISTS scripts)
    file(READ "${source}/${name}" part)
    string(APPEND script "${part}")
  endforeach()
  string(APPEND script "})();\n")
  file(WRITE "${made}.html" "${page}")
  file(WRITE "${made}.css" "${style}")
  file(WRITE "${made}.js" "${script}")

  foreach(kind IN ITEMS html css js)
    file(READ "${made}.${kind}" hex HEX)
    qkv_html_bytes("${hex}" ${kind}_bytes)
    file(SHA256 "${made}.${kind}" hex)
    qkv_html_bytes("${hex}" ${kind}_hash)
    string(LENGTH "${${kind}_bytes}" length)
    if(length EQUAL 0)
      message(FATAL_ERROR "the page of the html writer is empty: ${made}.${kind}")
    endif()
  endforeach()
  configure_file("${source}/html_page.cpp.in" "${made}.cpp" @ONLY)
  target_sources(${target} PRIVATE "${made}.cpp")

  list(TRANSFORM scripts PREPEND "${source}/")
  set_property(
    DIRECTORY
    APPEND
    PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}/html_page.html" "${source}/html_page.css" "${source}/html_page.cpp.in"
             ${scripts})
endfunction()
