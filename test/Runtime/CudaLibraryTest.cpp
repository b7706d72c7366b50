//===- CudaLibraryTest.cpp - What is said of libraries that do not fit ----===//

#include "TemporaryFolder.h"
#include "cuda/CublasLtApi.h"
#include "cuda/CudnnApi.h"
#include "cuda/DynamicLibrary.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace autopar::runtime;

namespace {

/// A folder of made-up libraries, named in AUTOPAR_CUDA_PATH.
class CudaLibrary : public ::testing::Test {
protected:
  void SetUp() override {
    setenv("AUTOPAR_CUDA_PATH", folder.path("").c_str(), 1);
  }
  void TearDown() override { unsetenv("AUTOPAR_CUDA_PATH"); }

  void make(const std::string &file, const std::string &source) {
    std::string from = folder.write("library.c", source);
    std::string command = std::string(AUTOPAR_TEST_CC) + " -shared -fPIC -o " +
                          folder.path(file) + " " + from;
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  /// All functions of cuBLASLt, with these versions.
  std::string blas(int version, int cuda) {
    std::string source =
        "unsigned long cublasLtGetVersion(void) { return " +
        std::to_string(version) +
        "; }\nunsigned long cublasLtGetCudartVersion(void) { return " +
        std::to_string(cuda) + "; }\n";
#define APRT_ROW(result, name, parameters)                                     \
  if (source.find(#name "(") == std::string::npos)                             \
    source += "int " #name "(void) { return 0; }\n";
    APRT_CUBLASLT_FUNCTIONS(APRT_ROW)
#undef APRT_ROW
    return source;
  }
  void expectWords(const Status &status,
                   const std::vector<std::string> &words) {
    for (const std::string &word : words)
      EXPECT_NE(status.message().find(word), std::string::npos)
          << "no '" << word << "' in: " << status.message();
  }

  TemporaryFolder folder;
};

TEST_F(CudaLibrary, IsFoundWhereTheVariableSays) {
  make("libcublasLt.so.12", blas(120400, 12040));
  CublasLtApi api;
  ASSERT_EQ(api.load().message(), "");
  EXPECT_EQ(cublasLtVersionText(api.cublasLtGetVersion()), "12.4.0");
  EXPECT_NE(api.file.find("libcublasLt.so.12"), std::string::npos);
}

TEST_F(CudaLibrary, ThatIsTooOldIsNamedWithWhatToInstall) {
  make("libcublasLt.so.12", blas(110803, 11080));
  expectWords(CublasLtApi().load(),
              {"cuBLASLt of ", "is version 11.8.3", "12.0 or newer is needed",
               "pip install nvidia-cublas", "AUTOPAR_CUDA_PATH"});
}

TEST_F(CudaLibrary, ThatLacksAFunctionIsNamed) {
  make("libcudnn.so.9", "unsigned long cudnnGetVersion(void) { return 1; }");
  expectWords(CudnnApi().load(), {"cuDNN of ", "lacks cudnnGetCudartVersion",
                                  "9.0 or newer is needed"});
}

TEST_F(CudaLibrary, ThatIsNoLibraryIsNamed) {
  folder.write("libcudnn.so.9", "not an ELF file");
  expectWords(CudnnApi().load(), {"cuDNN 9.0 or newer is needed and cannot be "
                                  "loaded",
                                  "libcudnn.so.9", "pip install nvidia-cudnn"});
}

TEST_F(CudaLibrary, MustBeOneThatTheDriverRuns) {
  make("libcublasLt.so.13", blas(130000, 13000));
  expectWords(CublasLtApi().load(12040),
              {"is made for CUDA 13, but the driver is for CUDA 12"});
  EXPECT_EQ(CublasLtApi().load(13010).message(), "");
  make("libcublasLt.so.12", blas(120000, 12000));
  EXPECT_EQ(CublasLtApi().load(12040).message(), "");
}

TEST_F(CudaLibrary, ThatIsNowhereIsNamed) {
  DynamicLibrary library;
  expectWords(library.open({"cuEXAMPLE",
                            {"libautopar-example.so.7"},
                            {},
                            "7.0 or newer",
                            "pip install example"}),
              {"cuEXAMPLE 7.0 or newer is needed", "libautopar-example.so.7",
               "pip install example", "LD_LIBRARY_PATH"});
}

} // namespace
