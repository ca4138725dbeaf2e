// Lines to translate or complete, as work of an engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/job.h"
#include "engine/requests.h"
#include "engine/ticket.h"
#include "infer/translation_work.h"

namespace headscope {

// Exceptions of an observer or a rule become callback_failure().
class TextJob : public Job {
public:
    ~TextJob() override;

    const DecodingOptions& options() const { return options_; }
    // A part of a line was written, on a device's thread.
    virtual void wrote(const TextEvent& event);

protected:
    TextJob(ModelHandle model, Terms terms, const std::vector<SourceLine>& lines, const DecodingOptions& options,
            bool reports);

    TranslationWork& work() { return work_; }

private:
    class GuardedObserver;
    DecodingOptions guarded(DecodingOptions wanted);

    std::unique_ptr<AttentionObserver> observer_;  // options_ refers to it
    const DecodingOptions options_;
    TranslationWork work_;
};

// One line.
class LineJob final : public TextJob {
public:
    LineJob(ModelHandle model, Terms terms, const TextRequest& request, std::shared_ptr<Answer<TextRequest>> answer);

    void finished(std::size_t batch) override;
    void end(const std::exception_ptr& failure) noexcept override;
    void wrote(const TextEvent& event) override;

private:
    const std::shared_ptr<Answer<TextRequest>> answer_;
    std::size_t parts_ = 0;
    std::mutex mutex_;
    std::map<std::size_t, std::string> texts_;  // of several parts, by position in the line
    std::string line_;                          // joined
};

// The lines of a text, in order.
class LinesJob final : public TextJob {
public:
    LinesJob(ModelHandle model, Terms terms, const LinesRequest& request, std::shared_ptr<Answer<LinesRequest>> answer);

    void finished(std::size_t batch) override;
    bool survives(Work& work, const std::exception_ptr& why) override;
    void end(const std::exception_ptr& failure) noexcept override;
    bool joins() const override { return false; }  // its batches give way
    bool counts() const override { return counts_; }

private:
    const std::shared_ptr<Answer<LinesRequest>> answer_;
    std::mutex mutex_;  // several devices may finish batches
    const bool counts_;
    std::size_t failed_ = 0;
};

}  // namespace headscope
