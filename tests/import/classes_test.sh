#!/usr/bin/env bash
# headscope classify, answer and their parts of evaluate, with other programs' classifiers.
# usage: classes_test.sh HEADSCOPE-PROGRAM MODELS
# shellcheck disable=SC2016,SC2317 # the conditions are called through expect
models=$(realpath "$2")
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"

# The texts of a model's answers.json, and whether what was printed has their scores.
texts_of() { jq -r '.items[] | select(has("scores")) | .text + if has("pair") then "\t" + .pair else "" end' "$models/$1/answers.json"; }
has_scores() { # MODEL FILTER: of the printed lines, the scores in the model's order
    jq -sc "[.[] | $2]" out >found
    jq --slurpfile found found -e '[.items[] | .scores] as $wanted | $found[0] as $found |
        ($wanted | length) == ($found | length) and
        ([range($wanted | length) as $i | range($wanted[$i] | length) as $j | $wanted[$i][$j] - $found[$i][$j] | fabs] | max < 1e-4)' \
        "$models/$1/answers.json"
}
likeliest() { jq -es 'all(.classes == (.classes | sort_by(-.probability)) and .label == .classes[0].label and
    ([.classes[].probability] | add - 1 | fabs < 1e-6))' out; }

scores_as_transformers() { # MODEL FILTER WHAT: texts and pairs
    texts_of "$1" | grep -v $'\t' >texts
    texts_of "$1" | grep $'\t' >pairs
    run classify --model "$models/$1" texts --json && cp out all
    run classify --model "$models/$1" --pairs pairs --json
    cat out >>all && cp all out
    expect "$3" has_scores "$1" "$2"
}
of_classes='(.classes | map({(.label): .score}) | add) as $of | '
scores_as_transformers hf-distilbert-classes "$of_classes [\$of.NEGATIVE, \$of.POSITIVE]" \
    "DistilBERT's classes have transformers' scores, with its labels and without token types"
scores_as_transformers hf-roberta-classes "$of_classes [\$of.negative, \$of.neutral, \$of.positive]" \
    "RoBERTa's, too, with two ends between two texts"
scores_as_transformers hf-bert-number '[.score]' "a number, too"
scores_as_transformers hf-bert-classes "$of_classes [\$of.negative, \$of.neutral, \$of.positive]" "and BERT's classes"
scores_as_transformers hf-bert-labels "$of_classes [\$of.negative, \$of.neutral, \$of.positive]" \
    "and those of which a text has any number"
cp out labels
has_probabilities() { # of transformers, each on its own, and the classes that have at least a half
    jq -sc 'map(.classes | map({(.label): .probability}) | add | [.negative, .neutral, .positive])' labels >found
    jq --slurpfile found found -e '[.items[] | .probabilities] as $wanted | $found[0] as $found |
        [range(3) as $i | range(3) as $j | $wanted[$i][$j] - $found[$i][$j] | fabs] | max < 2e-5' \
        "$models/hf-bert-labels/answers.json" && jq -es 'all(.labels == [.classes[] | select(.probability >= 0.5) | .label])' labels
}
expect "with transformers' probabilities" has_probabilities
jq -c '.items[] | {text, label: ["positive", "neutral"]} + if has("pair") then {pair} else {} end' \
    "$models/hf-bert-labels/answers.json" >lists.jsonl
run evaluate --labelled lists.jsonl --model "$models/hf-bert-labels" --json
has_loss() { jq --slurpfile items "$models/hf-bert-labels/answers.json" -e '.texts == 3 and .exact_match <= 1 and .micro_f1 <= 1 and
    .macro_f1 <= 1 and (.classes | length) == 3 and (.nll - ([$items[0].items[].loss] | add / 3) | fabs) < 2e-5' out; }
expect "and evaluate its loss" has_loss
run evaluate --labelled lists.jsonl --model "$models/hf-bert-labels"
expect "in a table" eval 'says "3 texts: exact match" && says "(of all choices)" && says "negative"'
run evaluate --labelled lists.jsonl --model "$models/hf-bert-labels" --calibration none.svg
expect "of which no calibration is drawn" refused 'any number of classes for a text'
run evaluate --labelled lists.jsonl --model "$models/hf-bert-classes"
expect "lists for a model that gives one class" refused 'line 1' 'the label is a list of classes'
run attention --model "$models/hf-bert-labels" --text 'mo Kaleb rito' --class-token
expect "its class token names the likeliest" grep -q '^Likeliest class: [a-z]*, probability 0\.' out
run classify --model "$models/hf-bert-classes" texts --json
expect "a classifier gives classes" ended_with 0
expect "the likeliest first" likeliest
run import "$models/hf-bert-classes" --output ours
run classify --model "$models/hf-bert-classes" texts && cp out theirs
expect "text has a class and its probability" grep -qP '^(negative|neutral|positive)\t0\.\d{4}\t' out
run classify --model ours texts
expect "an imported classifier gives the same" same out theirs
run classify --model ours --text 'mo Kaleb rito' --top 1
expect "--top 1 prints the likeliest" grep -qxP '[a-z]+\t0\.\d{4}' out
cp out likeliest.txt
run classify --model ours --text 'mo Kaleb rito' --top 1 -o written --precision f16
expect "in a file, and with weights of 16 bits" eval 'ended_with 0 && [ "$(cut -f1 written)" = "$(cut -f1 likeliest.txt)" ]'
for _ in {1..40}; do cat texts; done >many && mv many texts
run classify --model ours texts --json && cp out alone
run classify --model ours texts --json --device cpu,cpu --batch-tokens 16
expect "several devices share the lines" same out alone

printf 'mo\n\nkaleb\n' >gap
run classify --model ours gap
expect "an empty line is named" eval 'ended_with 1 && complains "line 2: the text is empty" && complains "1 of 3 texts were not classified"'
expect "and gives an empty line" eval '[ "$(wc -l <out)" = 3 ] && [ -z "$(sed -n 2p out)" ]'
printf 'mo\n\xff\nkaleb\n' >bytes
run classify --model ours bytes --json
expect "so is one that is not UTF-8" eval 'ended_with 1 && complains "line 2: the text is not UTF-8" && [ "$(wc -l <out)" = 3 ]'
yes kaleb | head -n 30 | paste -sd ' ' >long
run classify --model ours long
expect "so is one that is too long" complains 'but the model takes at most 24'
run classify --model ours --text mo --pairs
expect "pairs without a TAB" refused 'needs two texts with one TAB'
run classify --model ours --text mo --top 7
expect "more classes than there are" refused 'the model has 3 classes (negative, neutral, positive)'
run classify --model "$models/hf-bert-number" --text mo --top 1
expect "classes of a number" refused '--top chooses among classes'
run classify --model "$models/hf-gpt2" --text mo
expect "a model without classes" refused 'gives texts no classes'
: >nothing
run classify --model ours nothing
expect "an empty file" refused 'has no text to classify'
run fill --model "$models/hf-bert-classes" 'mo [MASK]'
expect "what a classifier fills in is doubted" eval 'ended_with 0 && complains "may mean nothing"'
cp -r "$models/hf-bert-classes" several
jq '.id2label = {"0": "good", "2": "bad"}' "$models/hf-bert-classes/config.json" >several/config.json
run classify --model several --text mo
expect "a class without a name" refused 'id2label' 'no text for the class 1 of 2'
jq '.id2label = {"0": "good", "1": "bad"}' "$models/hf-bert-classes/config.json" >several/config.json
run classify --model several --text mo
expect "classes that the weights lack" refused 'classifier.weight'
jq '.id2label = {"0": "good", "1": "bad", "2": "good"}' "$models/hf-bert-classes/config.json" >several/config.json
run classify --model several --text mo
expect "two classes of one name" refused 'id2label' 'different classes'

while IFS=$'\t' read -r label text; do jq -nc --arg class "$label" --arg text "$text" '{text: $text, label: $class}'; done >labelled.jsonl \
    <<<$'negative\tmo kaleb\npositive\trito\nneutral\tgu\nnegative\tsané kam'
run evaluate --labelled labelled.jsonl --model ours --calibration calibration.svg
expect "evaluate says how often the classes are right" eval 'says "4 texts: accuracy" && says "negative" && says "calibration error"'
expect "and draws it" grep -q '</svg>' calibration.svg
run evaluate --labelled labelled.jsonl --model ours --json
agrees() { # with what classify says
    jq -r .text labelled.jsonl | "$headscope" classify --model ours --json 2>/dev/null | jq -sc 'map(.label)' >given
    jq -sc 'map(.label)' labelled.jsonl >wanted
    jq -e --slurpfile given given --slurpfile wanted wanted '(.accuracy * 4 | round) ==
        ([range(4) | select($given[0][.] == $wanted[0][.])] | length) and (.classes | length) == 3 and .model.precision == "f32"' out
}
expect "as classify does" agrees
run evaluate --labelled labelled.jsonl --model ours
cp out whole
jq -nc --arg text "$(cat long)" '{text: $text, label: "neutral"}' | cat - labelled.jsonl >longer.jsonl
run evaluate --labelled longer.jsonl --model ours
expect "a text that is too long is left out, and named" eval 'ended_with 1 && same out whole && complains "line 1: the text has" && complains "1 of 5 texts were not evaluated"'
run evaluate --labelled longer.jsonl --model ours --json
expect "and counted" jq -e '.texts == 4 and .left_out == 1' out
sed 's/"neutral"/"furious"/' labelled.jsonl >unknown.jsonl
run evaluate --labelled unknown.jsonl --model ours
expect "a class that the model lacks" refused 'line 3' 'the class "furious" is unknown to the model, which has negative, neutral, positive'
sed 's/"neutral"/0.5/' labelled.jsonl >mixed.jsonl
run evaluate --labelled mixed.jsonl --model ours
expect "classes and numbers" refused 'line 3' 'a file has one or the other'
jq -c '.label = (.text | length)' labelled.jsonl >numbers.jsonl
run evaluate --labelled numbers.jsonl --model ours
expect "numbers for classes" refused 'the label is a number, but the model has classes'
run evaluate --labelled numbers.jsonl --model "$models/hf-bert-number"
expect "numbers have an error and correlations" eval 'says "mean squared error" && says "Pearson" && says "Spearman"'
run evaluate --labelled numbers.jsonl --model "$models/hf-bert-number" --json
expect "in JSON, too" jq -e '.texts == 4 and .mse > 0 and .pearson <= 1 and .spearman <= 1' out
run evaluate --labelled numbers.jsonl --model "$models/hf-bert-number" --calibration none.svg
expect "which have no calibration" refused '--calibration draws the probabilities of classes'

run attention --model ours --text 'mo Kaleb rito' --class-token --json
expect "the attention of the class token is that of [CLS]" eval '[ -s out ] && jq -e ".chosen_queries == [0] and .queries[0] == \"[CLS]\"" out >given'
likeliest_class=$("$headscope" classify --model ours --text 'mo Kaleb rito' --top 1 --json | jq -r '.classes[0] | "Class: \(.label), probability \(.probability * 1000 | round / 1000)."')
expect "with the class that classify prints" eval '[ -s out ] && jq -e --arg class "$likeliest_class" ".note | startswith(\$class)" out >given'
run attention --model ours --text 'mo Kaleb rito' --class-token -o class.svg
expect "which can be drawn" grep -q "$likeliest_class" class.svg
run attention --model "$models/hf-bert-number" --text 'mo Kaleb rito' --class-token
expect "or a number" grep -q '^Score: -\?[0-9]*\.[0-9]*\. ' out
run attention --model "$models/hf-bert" --text 'mo Kaleb rito' --class-token
expect "a model without classes has none" misused '--class-token' 'has no classes'

run answer --model "$models/hf-bert-answers" --question 'kam' --context 'mo Kaleb rito sané'
expect "an answer is a part of its context" [ "$(cat out)" = rito ]
jq -c '.items[] | select(has("answer")) | {question: .text, context: .pair}' "$models/hf-bert-answers/answers.json" >questions.jsonl
run answer --model "$models/hf-bert-answers" questions.jsonl --json
jq -sc 'map({answer, score: (.score * 1000 | round), probability: (.probability * 1000 | round)})' out >found
jq -c '[.items[] | select(has("answer")) | {answer, score: (.answer_score * 1000 | round), probability: (.answer_probability * 1000 | round)}]' \
    "$models/hf-bert-answers/answers.json" >wanted
expect "the best by transformers' scores" same found wanted
run answer --model "$models/hf-bert-answers" questions.jsonl && cp out alone
run answer --model "$models/hf-bert-answers" questions.jsonl -o written --precision f16 --device cpu,cpu --batch-tokens 16
expect "in a file, on two devices, with weights of 16 bits" same written alone
run answer --model "$models/hf-bert-answers" questions.jsonl --longest 1
while read -r line; do "$headscope" tokenize --model "$models/hf-bert-answers" --text "$line" | wc -w; done <out | sort -u >pieces
expect "of as many pieces as allowed" eval '[ "$(cat pieces)" = 1 ]'
run answer --model "$models/hf-bert-answers" --question mo --context $'\u0301'
expect "a context of which the model reads nothing" eval 'ended_with 1 && complains "the context has no piece"'
run answer --model ours --question mo --context kaleb
expect "a model that finds no answers" refused 'finds no answers in texts'
run answer --model "$models/hf-bert-answers" --question mo
expect "a question alone" misused '--question and --context belong together'
run answer --model "$models/hf-bert-answers" --question '' --context '' </dev/null
expect "an empty one" misused '--question'
jq -c '.answers = [(.context | split(" ")[-1]), .context]' questions.jsonl >answers.jsonl
run evaluate --answers answers.jsonl --model "$models/hf-bert-answers"
expect "answers are scored as SQuAD's script does" says 'questions: exact match'
run evaluate --answers answers.jsonl --model "$models/hf-bert-answers" --json
expect "in JSON" jq -e '.questions == 2 and .f1 > 0 and .exact_match <= .f1' out
jq -nc --arg question "$(cat long)" '{question: $question, context: "rito", answers: ["rito"]}' | cat answers.jsonl - >asked.jsonl
run evaluate --answers asked.jsonl --model "$models/hf-bert-answers" --json
expect "a question that is too long counts as wrong" eval 'ended_with 1 && complains "line 3: the question has" && complains "1 of 3 questions were not answered" && jq -e ".questions == 3 and .unanswered == 1" out'
jq -c '.answers = ["elsewhere"]' questions.jsonl >outside.jsonl
run evaluate --answers outside.jsonl --model "$models/hf-bert-answers"
expect "an answer outside the context" refused 'line 1' 'has "elsewhere", which does not stand in the context'
run evaluate --answers questions.jsonl --model "$models/hf-bert-answers"
expect "a question without an answer" refused 'line 1' '"answers"'

finish "classifiers of other programs classify, and answers are found"
