#!/usr/bin/env bash
# From a base model to one that follows instructions, as a user meets it: make-task preferences, train --task sft,
# reward, dpo and ppo, score, evaluate, rank.
# usage: alignment_test.sh HEADSCOPE-PROGRAM
# shellcheck disable=SC2317 # the conditions are called through expect
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"
lines() { [ "$(wc -l <"$2")" -eq "$1" ]; }
says_all() { local word; for word in "$@"; do says "$word" || return 1; done; }
reports() { local word; for word in "$@"; do complains "$word" || return 1; done; } # of a training, on standard error

run make-task preferences --output data --questions 60 --test 12 --seed 2 --json
expect "make-task preferences writes texts for each stage" wrote data/{text.txt,sft.jsonl,ranked.jsonl,prompts.jsonl,test.jsonl,test-prompts.txt}
expect "with their lines" [ "$(jq -c '[.files[].lines]' out)" = '[240,60,60,60,12,12]' ]
expect "with held-out questions" lines 12 data/test-prompts.txt
run make-task preferences
expect "it needs a folder or answers" misused "--output" "--rate"
run make-task preferences --rate data/sft.jsonl
expect "answers come from complete --json" refused "'data/sft.jsonl' line 1" "complete --json"
for answer in ' it is on the table please' 'whatever'; do
    jq -cn --arg answer "$answer" '{completion: $answer}'
done >answers.jsonl
run make-task preferences --rate answers.jsonl
expect "which keep the rules or not" says "2 answers: 50.0 % keep all rules (50.0 % polite, 50.0 % clean, 50.0 % brief), 100.0 % are different"

cat >base.json <<'JSON'
{
  "task": "causal",
  "model": {"decoder_layers": 1, "d_model": 32, "d_ff": 64, "heads": 2, "max_length": 96, "norm": "pre"},
  "data": {"train": {"text": "text.txt"}},
  "tokenizer": {"type": "bpe", "vocabulary": 96},
  "training": {"steps": 30, "max_length": 96, "source_tokens": 512, "target_tokens": 512, "warmup_steps": 20,
               "learning_rate_scale": 0.5, "residual_dropout": 0.0, "embedding_dropout": 0.0}
}
JSON
run train base.json --data data --output base
expect "a base model is trained" ended_with 0
run train --task sft --from base --text data/sft.jsonl --output sft --steps 3
expect "it learns responses" reports "tokens are of responses"
run train --task sft --text data/sft.jsonl --output none --steps 3
expect "which needs a model" refused '"task" "sft" goes on with a model' "--from"
expect "and leaves nothing" [ ! -e none ]
run train --task reward --from sft --text data/ranked.jsonl --output reward --steps 3
expect "a reward model learns scores" reports "accuracy"
run train --task dpo --from sft --text data/ranked.jsonl --output dpo --steps 3 --beta 0.2 --learning-rate 0.001
expect "preferences are learned" reports "accuracy" "lr 6.00e-05" "gave 228 responses their log-probabilities"
run train --task dpo --from sft --text data/ranked.jsonl --output dry --dry-run
expect "a dry run measures their steps without the reference" eval 'says_all "time:" "per epoch" && ! complains "log-probabilities"'
run train --task dpo --from sft --text data/ranked.jsonl --output dry --show-labels 1
expect "and so do labels" eval 'ended_with 0 && ! complains "log-probabilities"'

ppo=(train --task ppo --from sft --text data/prompts.jsonl)
run train --task ppo --from sft --text data/prompts.jsonl --reward reward --output ppo --steps 20 --kl 0.1
expect "rollouts earn scores" reports "reward" "kl" "distinct" "value loss"
expect "at the price that was given" [ "$(jq .rollouts.kl ppo/training.json)" = 0.1 ]
expect "and end with a model" [ -e ppo/model/model.safetensors ]
run "${ppo[@]}" --output none
expect "they need a reward model" misused "--task ppo needs a model that scores responses: name it with --reward"
run "${ppo[@]}" --reward sft --output none
expect "which gives scores" refused "gives no scores" "--task reward"
expect "and leave nothing, not even texts" [ ! -e none ]
run "${ppo[@]}" --reward reward --output none --kl -1
expect "their price is a number" misused "--kl"
run "${ppo[@]}" --reward reward --output dry --dry-run --kl 0
expect "a dry run counts the other models" says_all "reference, reward model and model of values" "without sampling"
run "${ppo[@]}" --reward reward --output dry --overfit-one-batch
expect "one batch of prompts cannot be overfitted" refused "whose texts have no labels"
run "${ppo[@]}" --reward reward --output dry --batch auto
expect "nor be as large as fits" refused '"training.source_tokens" (--batch) cannot be "auto"'
run train --task sft --from base --text data/sft.jsonl --output none --kl 0.1
expect "other tasks have no price" refused '"rollouts" (--kl) is unknown'
run train --task causal --from base --text data/text.txt --output none --template chatml
expect "nor a template" refused '"data.template" (--template) is unknown'
run train --task sft --from base --text data/sft.jsonl --output none --template chatml
expect "the vocabulary has a template's markers" refused "lacks" "chatml"

run score --model reward --responses data/test.jsonl --json
expect "responses are scored" eval 'lines 12 out && [ "$(jq -s "map(.rewards | length) | unique" -c out)" = "[4]" ]'
cp out scores
run score --model reward --responses data/test.jsonl --json --template none
expect "without a template, which the model does not have either" same scores out
run score --model reward --responses data/test.jsonl --template chatml
expect "and not with one that its vocabulary lacks" refused "chatml"
run evaluate --model reward --ranked data/test.jsonl --template chatml
expect "nor are they evaluated with one" refused "chatml"
run evaluate --model reward --ranked data/test.jsonl --template none
expect "and rankings evaluated" says_all "12 prompts" "ranks  1 apart" "calibration error"
run evaluate --model sft --ranked data/test.jsonl --json
expect "by any causal model" [ "$(jq .prompts out)" = 12 ]

for model in reward sft; do
    expect "two devices share the responses that $model scores" \
        shares attention score --model $model --responses data/ranked.jsonl --batch-tokens 8
    expect "and the rankings" shares attention evaluate --model $model --ranked data/ranked.jsonl --batch-tokens 8
done

run rank --model sft --prompts data/prompts.jsonl --device cpu --precision f32 --samples 3 --template none --seed 5 \
    --temperature 0.8 --top-k 20 --top-p 0.9 --min-p 0.001 --min-length 2 --max-tokens 9 --stop zz --output three.jsonl --json < <(printf '21\nq')
expect "three responses are sampled as asked" [ "$(jq -c '[.rated, .ratings]' out)" = '[1,1]' ]
expect "and ranked" [ "$(jq -c '.ranked | length' three.jsonl)" = 3 ]
rank=(rank --model sft --prompts data/prompts.jsonl --max-tokens 12)
run "${rank[@]}" --output ratings.jsonl < <(printf '12=q')
expect "a person ranks responses" eval 'ended_with 0 && lines 3 ratings.jsonl'
expect "the better one first" [ "$(jq -c '.ranked | length' ratings.jsonl | paste -sd ' ')" = '2 2 1' ]
before=$(cat ratings.jsonl)
run "${rank[@]}" --output ratings.jsonl --json < <(printf 's1u2q')
expect "and goes on, skips and takes back" [ "$(jq -c '[.rated, .skipped, .ratings]' out)" = '[1,1,4]' ]
expect "without losing a rating" [ "$(head -n 3 ratings.jsonl)" = "$before" ]
run "${rank[@]}" --output ratings.jsonl < <(printf 'x')
expect "a key that means nothing is named" refused "'x' is no key here: 1 to 2, =, u, s or q"
run rank --prompts ratings.jsonl --output other.jsonl < <(printf '1111')
expect "another person ranks the same responses" lines 4 other.jsonl
run rank --agreement ratings.jsonl other.jsonl
expect "and how far they agree is said" says_all "4 prompts, 4 pairs" "kappa"
run rank --agreement ratings.jsonl data/ranked.jsonl
expect "raters see the same responses" refused "4 prompts have other responses in 'data/ranked.jsonl' than in 'ratings.jsonl'"
head -n 1 other.jsonl >twice.jsonl && head -n 1 other.jsonl >>twice.jsonl
run rank --prompts ratings.jsonl --output twice.jsonl </dev/null
expect "a prompt is rated once" refused "'twice.jsonl' line 2" "a second time"
run rank --prompts ratings.jsonl --output ratings.jsonl </dev/null
expect "what is rated is not overwritten" refused "ratings.jsonl"
run rank --output other.jsonl
expect "it needs prompts" misused "--prompts and --output"
jq -c '{prompt: "else", ranked: .ranked}' other.jsonl | head -n 1 >foreign.jsonl
run "${rank[@]}" --output foreign.jsonl < <(printf 'u')
expect "the rating of another file's prompt stays" eval 'refused "is no key here" && lines 1 foreign.jsonl'
jq -cn '{prompt: "many", ranked: [range(10) | tostring]}' >many.jsonl
run rank --prompts many.jsonl --output none.jsonl </dev/null
expect "ten responses have no digits" refused "10 responses are ranked by keys of one digit"
run rank --agreement ratings.jsonl other.jsonl --prompts many.jsonl
expect "agreement reads nothing else" misused "--agreement" "--prompts"
run rank --agreement ratings.jsonl missing.jsonl
expect "a file of ratings that is not there is named" refused "missing.jsonl"
# On a terminal each key counts at once; SIGKILL leaves the ratings that were given.
(sleep 2; printf 2; sleep 1; printf 1; sleep 1) |
    script -qfec "$headscope rank --model sft --prompts data/prompts.jsonl --max-tokens 12 --output typed.jsonl" typed >/dev/null
expect "a terminal is asked by key" eval 'lines 2 typed.jsonl && grep -q "1 of 60" typed && grep -q "q ends" typed'

run train --task reward --from sft --text ratings.jsonl --output rated --steps 1
expect "few ratings are too few to train on" refused "at least 20"
(cat data/ranked.jsonl; jq -c '.ranked = [[.ranked[0], .ranked[1]] | flatten]' data/test.jsonl) >more.jsonl
run train --task reward --from sft --text more.jsonl --output rated --steps 1
expect "ties alone are left out and counted" reports "whose responses are all as good as each other"

for line in '{"prompt": "a", "response": ""}' '{"prompt": "a", "response": "b", "x": 1}' '{"prompt": "a"}' $'{"prompt": "\xff", "response": "b"}'; do
    { cat data/sft.jsonl; printf '%s\n' "$line"; } >bad.jsonl
    run train --task sft --from base --text bad.jsonl --output none
    expect "a line that is wrong is named: ${line@Q}" refused "'bad.jsonl' line 61"
done
finish "alignment works from the command line"
