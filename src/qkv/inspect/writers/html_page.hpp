#pragma once

#include <string_view>

namespace qkv {

/// The page that the html writer fills in, as it was when the program was built. Its source are the files html_*.html,
/// .css and .js beside this one; html_embed.cmake turns them into these texts.
extern const std::string_view html_page;           // with the places @POLICY@, @STYLE@, @DATA@ and @SCRIPT@
extern const std::string_view html_style;          // one style sheet
extern const std::string_view html_style_sha256;   // 32 bytes
extern const std::string_view html_script;         // one script: all files in one function
extern const std::string_view html_script_sha256;  // 32 bytes

}  // namespace qkv
