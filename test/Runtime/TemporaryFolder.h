//===- TemporaryFolder.h - Files of a test ----------------------*- C++ -*-===//

#ifndef AUTOPAR_TEST_RUNTIME_TEMPORARYFOLDER_H
#define AUTOPAR_TEST_RUNTIME_TEMPORARYFOLDER_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace autopar::runtime {

/// A folder that goes away with the test.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "autopar-XXXXXX").string();
    folder = mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  std::string path(const std::string &name) const {
    return (folder / name).string();
  }
  std::string write(const std::string &name, const std::string &bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  std::string read(const std::string &name) const {
    std::ifstream file(path(name), std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

private:
  std::filesystem::path folder;
};

} // namespace autopar::runtime

#endif // AUTOPAR_TEST_RUNTIME_TEMPORARYFOLDER_H
