// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// How should a log be compressed that exceeds log_limit? This compares LZ4 with zstd's fastest
// levels, block by block as libcd/mpi_log/spill_file.cpp does it, on the files that are named on
// the command line (logs that CD_LOG_FILE has kept) and on data that cannot be compressed.
#include <benchmark/benchmark.h>

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr size_t block_size = size_t{256} << 10;
constexpr size_t most = size_t{64} << 20; // of a file

using Bytes = std::vector<char>;

struct Compressor {
    std::string name;
    size_t (*bound)(size_t size);
    size_t (*compress)(const char *from, size_t size, char *to, size_t room);
    size_t (*decompress)(const char *from, size_t size, char *to, size_t room);
};

template <int level> Compressor zstd() {
    return {"zstd " + std::to_string(level), ZSTD_compressBound,
            [](const char *from, size_t size, char *to, size_t room) {
                static ZSTD_CCtx *const context = ZSTD_createCCtx();
                return ZSTD_compressCCtx(context, to, room, from, size, level);
            },
            [](const char *from, size_t size, char *to, size_t room) {
                static ZSTD_DCtx *const context = ZSTD_createDCtx();
                return ZSTD_decompressDCtx(context, to, room, from, size);
            }};
}

Compressor lz4() {
    return {
        "lz4",
        [](size_t size) { return static_cast<size_t>(LZ4_compressBound(static_cast<int>(size))); },
        [](const char *from, size_t size, char *to, size_t room) {
            return static_cast<size_t>(
                LZ4_compress_default(from, to, static_cast<int>(size), static_cast<int>(room)));
        },
        [](const char *from, size_t size, char *to, size_t room) {
            return static_cast<size_t>(
                LZ4_decompress_safe(from, to, static_cast<int>(size), static_cast<int>(room)));
        }};
}

template <typename Work> void for_each_block(const Bytes &data, const Work &work) {
    for (size_t at = 0; at < data.size(); at += block_size) {
        work(data.data() + at, std::min(block_size, data.size() - at));
    }
}

void compress(benchmark::State &state, const Compressor &by, const Bytes &data) {
    Bytes to(by.bound(block_size));
    size_t stored = 0;
    for (auto _ : state) {
        stored = 0;
        for_each_block(data, [&](const char *block, size_t size) {
            stored += std::min(size, by.compress(block, size, to.data(), to.size()));
        });
    }
    state.SetBytesProcessed(static_cast<int64_t>(data.size()) * state.iterations());
    state.counters["stored"] = static_cast<double>(stored) / static_cast<double>(data.size());
}

void decompress(benchmark::State &state, const Compressor &by, const Bytes &data) {
    std::vector<Bytes> blocks;
    for_each_block(data, [&](const char *block, size_t size) {
        Bytes to(by.bound(size));
        to.resize(by.compress(block, size, to.data(), to.size()));
        blocks.push_back(std::move(to));
    });
    Bytes to(block_size);
    for (auto _ : state) {
        for (const Bytes &block : blocks) {
            if (by.decompress(block.data(), block.size(), to.data(), to.size()) > block_size) {
                state.SkipWithError("not decompressed");
            }
        }
    }
    state.SetBytesProcessed(static_cast<int64_t>(data.size()) * state.iterations());
}

Bytes noise() {
    Bytes bytes(size_t{16} << 20);
    std::mt19937_64 random(1);
    std::ranges::generate(bytes, [&] { return static_cast<char>(random()); });
    return bytes;
}

Bytes contents(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    Bytes bytes{std::istreambuf_iterator<char>(file), {}};
    bytes.resize(std::min(bytes.size(), most));
    return bytes;
}

} // namespace

int main(int argc, char **argv) {
    benchmark::Initialize(&argc, argv);
    std::vector<std::pair<std::string, Bytes>> inputs = {{"noise", noise()}};
    for (int i = 1; i < argc; ++i) {
        inputs.emplace_back(argv[i], contents(argv[i]));
        if (inputs.back().second.empty()) {
            return 1;
        }
    }
    for (const auto &[name, data] : inputs) {
        for (const Compressor &by : {lz4(), zstd<1>(), zstd<-3>()}) {
            const std::string suffix = "/" + by.name + "/" + name;
            const Bytes *bytes = &data;
            benchmark::RegisterBenchmark(
                ("compress" + suffix).c_str(),
                [=](benchmark::State &state) { compress(state, by, *bytes); });
            benchmark::RegisterBenchmark(
                ("decompress" + suffix).c_str(),
                [=](benchmark::State &state) { decompress(state, by, *bytes); });
        }
    }
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
