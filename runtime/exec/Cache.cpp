// The cache of compiled programs.
#include "runtime/exec/Cache.h"

#include <cstdlib>
#include <filesystem>

namespace nnterp {

namespace fs = std::filesystem;

std::string ProgramCache::defaultRoot() {
  auto variable = [](const char *name) {
    const char *value = std::getenv(name);
    return fs::path(value ? value : "");
  };
  if (fs::path own = variable("NNTERP_CACHE_DIR"); !own.empty())
    return own.string();
  if (fs::path xdg = variable("XDG_CACHE_HOME"); xdg.is_absolute()) // the XDG specification: relative ones are ignored
    return (xdg / "nnterp").string();
  if (fs::path home = variable("HOME"); !home.empty())
    return (home / ".cache" / "nnterp").string();
  return "";
}

/// Whatever is wrong with an entry, it is compiled again.
static std::optional<Artefact> readEntry(const fs::path &folder, const std::string &key) {
  Diagnostics unreported;
  std::optional<Artefact> entry = readArtefact(folder.string(), unreported);
  return entry && entry->manifest.key == key ? std::move(entry) : std::nullopt;
}

std::optional<Artefact> ProgramCache::find(const std::string &key) const {
  return root.empty() ? std::nullopt : readEntry(fs::path(root) / key, key);
}

/// A new folder in `root`, created with a name that nobody else has; empty on failure.
static fs::path temporaryFolder(const fs::path &root, std::error_code &failure) {
  std::string pattern = (root / ".new-XXXXXX").string();
  if (!mkdtemp(pattern.data())) {
    failure = std::error_code(errno, std::generic_category());
    return {};
  }
  return pattern;
}

std::optional<Artefact> ProgramCache::store(const std::string &key, std::string_view object, const Manifest &manifest,
                                            Diagnostics &diags) const {
  const fs::path folder = fs::path(root) / key;
  auto fail = [&](const std::string &reason) {
    diags.error("NNT1016", {root, 0, 0}, "cannot store a compiled program in \"" + root + "\": " + reason);
    return std::nullopt;
  };
  if (root.empty())
    return fail("none of NNTERP_CACHE_DIR, XDG_CACHE_HOME and HOME is set");

  std::error_code failure, ignored;
  fs::create_directories(root, failure);
  const fs::path fresh = failure ? fs::path() : temporaryFolder(root, failure);
  if (failure)
    return fail(failure.message());
  Diagnostics writing;
  if (!writeArtefact(fresh.string(), object, manifest, "", writing)) {
    fs::remove_all(fresh, ignored);
    return fail(writing.all().front().message);
  }

  fs::rename(fresh, folder, failure);
  if (failure) { // somebody else was first, or what stands there is damaged: then it makes way and we try once more
    if (!readEntry(folder, key)) {
      const fs::path damaged = temporaryFolder(root, failure);
      if (!damaged.empty()) {
        fs::rename(folder, damaged / key, ignored);
        fs::remove_all(damaged, ignored);
      }
      fs::rename(fresh, folder, failure);
    }
    fs::remove_all(fresh, ignored);
  }
  if (std::optional<Artefact> entry = readEntry(folder, key))
    return entry;
  return fail(failure ? failure.message() : "the entry cannot be read back");
}

} // namespace nnterp
