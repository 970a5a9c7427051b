// Which way up a picture is: what cameras write into EXIF and XMP, read as PIL reads it.
#pragma once

#include "runtime/images/Picture.h"

#include <string>
#include <string_view>

namespace nnterp {

/// EXIF's numbers; each says how the stored picture becomes the one to be shown.
enum class Orientation { upright = 1, mirror, turnHalf, flip, transpose, turnRight, transverse, turnLeft };

/// The metadata of a file that may say it.
struct OrientationSources {
  std::string exif; ///< a TIFF file, "Exif\0\0" before it or not
  std::string xmp;  ///< XML
};

/// EXIF's tag, where there is one; else XMP's; else upright. Numbers without meaning, and metadata that is damaged, are upright.
Orientation findOrientation(const OrientationSources &sources);

/// The bytes of ImageMagick's "Raw profile type exif": a name, a count and hexadecimal digits, on lines. Empty where it is not that.
std::string bytesOfRawProfile(std::string_view text);

/// The picture to be shown.
Picture oriented(Picture stored, Orientation orientation);

} // namespace nnterp
