// nnterp errors
#include "tools/nnterp/Commands.h"
#include "tools/nnterp/Terminal.h"

#include <cstdio>

namespace nnterp {

int errorsCommand(const std::string &code) {
  std::string text;
  std::vector<std::string> codes;
  for (const ErrorInfo &info : errorTable()) {
    codes.emplace_back(info.code);
    if (code.empty())
      text.append(info.code).append("  ").append(info.title).append("\n");
    else if (info.code == code)
      text.append(info.code).append(": ").append(info.title).append("\n\n").append(info.text).append("\n");
  }
  if (!text.empty())
    return print(text);
  std::fprintf(stderr, "nnterp errors: there is no error \"%s\"; nearest: %s\n", code.c_str(),
               joinOr(nearest(code, codes)).c_str());
  return exitUsage;
}

} // namespace nnterp
