// Reads and writes folders of compiled programs.
#include "runtime/exec/Artefact.h"
#include "runtime/abi/File.h"
#include "runtime/abi/Frame.h"
#include "runtime/exec/Hash.h"
#include "runtime/weights/Safetensors.h"

#include <filesystem>

namespace nnterp {

namespace fs = std::filesystem;

static constexpr const char *objectFile = "program.so";
static constexpr const char *manifestFile = "manifest.json";
static constexpr const char *checksumFile = "checksum";
static constexpr const char *planFile = "plan.json";

static std::string checksum(std::string_view object, std::string_view manifest) {
  return Hash().add(object).add(manifest).hex() + "\n";
}

std::string Artefact::planPath() const { return (fs::path(folder) / planFile).string(); }

bool writeArtefact(const std::string &folder, std::string_view object, const Manifest &manifest,
                   const std::string &plan, Diagnostics &diags) {
  const std::string text = manifest.toJson();
  auto write = [&](const char *name, std::string_view bytes) {
    return writeFileAtomically((fs::path(folder) / name).string(), bytes, diags);
  };
  return write(objectFile, object) && write(manifestFile, text) && (plan.empty() || write(planFile, plan)) &&
         write(checksumFile, checksum(object, text));
}

std::optional<Artefact> readArtefact(const std::string &folder, Diagnostics &diags) {
  auto fail = [&](const std::string &why) {
    diags.error("NNT1748", {folder, 0, 0},
                "\"" + folder + "\" is no compiled program: " + why +
                    "; expected a folder that nnterp compile --out wrote");
    return std::nullopt;
  };
  std::optional<std::string> contents[3];
  int index = 0;
  for (const char *name : {objectFile, manifestFile, checksumFile}) {
    Diagnostics reading;
    contents[index++] = readFile((fs::path(folder) / name).string(), reading);
    if (reading.hasErrors())
      return fail(reading.all().front().message);
  }
  const auto &[object, text, sum] = contents;
  if (*sum != checksum(*object, *text))
    return fail("its files are not those that were written together");
  Artefact artefact;
  artefact.folder = folder;
  artefact.object = (fs::path(folder) / objectFile).string();
  std::optional<Manifest> manifest = Manifest::fromJson(*text, (fs::path(folder) / manifestFile).string(), diags);
  if (!manifest)
    return std::nullopt;
  artefact.manifest = std::move(*manifest);
  if (artefact.manifest.abi != abi::version) {
    diags.error("NNT1015", {folder, 0, 0},
                "\"" + folder + "\" was compiled for version " + std::to_string(artefact.manifest.abi) +
                    " of the interface to programs; this executor has version " + std::to_string(abi::version));
    return std::nullopt;
  }
  Diagnostics none; // a folder of the cache has no plan
  artefact.plan = readFile(artefact.planPath(), none).value_or("");
  return artefact;
}

} // namespace nnterp
