#pragma once

namespace qkv {

/// The file formats that pictures are written in.
enum class PictureFormat { png, svg, pdf };

}  // namespace qkv
