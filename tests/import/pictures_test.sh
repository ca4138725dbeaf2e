#!/usr/bin/env bash
# Models that read pictures: classify, attention, import and training.
# usage: pictures_test.sh HEADSCOPE-PROGRAM MODELS
# shellcheck disable=SC2016,SC2317 # the conditions are called through expect
models=$(realpath "$2")
# shellcheck source=tests/house/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/../house/commands.sh"

vit=$models/hf-vit
run classify --model "$vit" --picture "$vit/picture.png" "$vit/grey.png" --json
expect "a ViT gives pictures classes" ended_with 0
expect "with transformers' scores" jq -es --slurpfile wanted "$vit/pictures.json" '
    [range(2) as $i | .[$i].classes | (map({(.label): .score}) | add) as $of |
        [$of.circle, $of.square, $of["striped, with a gradient"]] as $found |
        range(3) as $j | $found[$j] - $wanted[0][$i].scores[$j] | fabs] | max < 1e-4' out
run classify --model "$vit" --picture "$vit/picture.png" --top 1
expect "as text" grep -qxP 'circle\t0\.\d{4}' out
cp out one
printf '%s\n' "$vit/picture.png" >names
run classify --model "$vit" names --top 1
expect "of a file of names the same" same out one
run import "$vit" --output ours
run classify --model ours --picture "$vit/picture.png" --top 1
expect "an imported ViT gives the same" same out one
run classify --model ours --picture "$vit/picture.png" --top 4
expect "a class that the model lacks" refused 'the model has 3 classes'

run classify --model "$vit" --text 'The cat sleeps.'
expect "text for a model of pictures" eval 'ended_with 1 && complains "does not exist or is no file"'
run classify --model "$models/hf-bert-classes" --picture "$vit/picture.png"
expect "a picture for a model of text" refused 'reads text, and --picture gives a picture'
head -c 300 "$vit/picture.png" >damaged.png
run classify --model "$vit" --picture damaged.png
expect "a damaged picture" eval 'ended_with 1 && complains "is damaged"'
for command in 'translate --text a' 'complete a' 'fill a' 'embed --text a' 'compare --text a' 'score --text a' \
    'view --render x.png --text a' 'attention --text a' 'answer --question a --context a' 'chat --text a' \
    'evaluate --text names' 'attention --picture names --lens' 'export --format huggingface --output x'; do
    read -ra words <<<"$command"
    if [ "${words[0]}" = export ]; then words=(export "$vit" "${words[@]:1}"); else words+=(--model "$vit"); fi
    run "${words[@]}"
    expect "$command says that it is for texts" eval '[ "$code" = 1 ] || [ "$code" = 2 ] && ! complains "internal error"'
done

run translate --model "$vit" --text a
expect "a classifier that writes no text" refused 'is a picture classifier: use headscope classify'
run score --model "$vit" --source names --target names
expect "and that scores none" misused 'which writes no text: use headscope classify, or evaluate --labelled'
run tokenize --model "$vit" names
expect "or splits any" refused 'headscope tokenize needs a model that reads text'
run bench translate --model "$vit" --device cpu
expect "or is measured with text" eval '[ "$code" != 0 ] && complains "headscope bench needs a model that reads text"'
run attention --model "$vit" --picture "$vit/picture.png" --layer 2 --top 3 -o heads.svg
expect "the strongest lines of a picture's heads" misused 'are for texts: leave them out'
run attention --model "$vit" --picture "$vit/picture.png" --layer 2 -o heads.svg
expect "attention is drawn on the picture" eval 'ended_with 0 && grep -q "What the class token looks at, layer 2" heads.svg'
run attention --model "$vit" --picture "$vit/picture.png" --layer 2 --at 2,3 -o patch.png
expect "of a patch" eval 'ended_with 0 && [ -s patch.png ]'
run attention --model "$vit" --picture "$vit/picture.png" --layer 2 --at 4,1 -o patch.png
expect "that the picture has" misused '3 x 3 patches'
run attention --model "$vit" --picture "$vit/picture.png" --json
expect "in JSON with the patches as keys" jq -e '[.. | strings] | any(. == "3,3")' out
run view --model "$vit" --picture "$vit/picture.png" --render view.svg
expect "the window's figure is the same picture" eval 'ended_with 0 && grep -q "What the class token looks at, layer 2" view.svg'
run view --model "$vit" --picture "$vit/picture.png" --panel time --render classes.json
expect "which has the classes" eval 'ended_with 0 && jq -e ".class == \"circle\" and (.steps[0].candidates | length) == 3" classes.json'
run view "$vit/picture.png" --model "$vit" --render again.svg
expect "also of a picture's path alone" eval 'ended_with 0 && same again.svg view.svg'
run view "$vit/picture.png" --text a --model "$vit" --render again.svg
expect "beside which no text is taken" misused 'picture.png and --text were given'
run view --model "$vit" --render view.png
expect "without a picture there is none" refused 'Choose a picture'
run view --model "$vit" --picture names --render view.png
expect "a file that is no picture" refused "'names'"
run view --model "$models/hf-bert" --picture "$vit/picture.png" --render view.png
expect "a picture for the window's model of text" refused 'reads text: open a model that reads pictures first'
run view --model "$vit" --picture "$vit/picture.png" --panel saliency --render view.png
expect "a panel of texts" refused 'This model reads pictures, and this is asked of texts'
run attention --model "$vit" --text "$vit/picture.png" --page -o page.html
expect "a page of a picture's heads" refused 'headscope attention --page needs a model that reads text'
run attention --text a --picture "$vit/picture.png"
expect "a text and a picture" misused '--picture'

run make-task shapes --output shapes --pairs 24 --valid 4 --test 4 --seed 3 --json
expect "shapes are drawn" eval 'ended_with 0 && [ "$(ls shapes/pictures | wc -l)" = 32 ]'
expect "with captions" grep -qP '^shapes/pictures/000001\.png\ta (red|green|blue|yellow) (circle|square|triangle) (left of|above) a ' \
    shapes/train.tsv
jq '.training += {"steps": 4, "cooldown_steps": 0, "warmup_steps": 2, "validate_every": 2, "checkpoint_every": 2} |
    .model += {"d_model": 16, "feed_forward": {"d_ff": 16}}' "$repository/assets/configs/shapes.json" >shapes.json
run train shapes.json --data shapes --output captions --device cpu
expect "captions are trained" ended_with 0
cut -f1 shapes/test.tsv >test.names
run translate --model captions test.names
expect "and written" eval 'ended_with 0 && [ "$(wc -l <out)" = 4 ]'
run attention --model captions --picture "$(head -n1 test.names)" --target 'a red circle' --kind cross -o words.svg
expect "each word is drawn" eval 'ended_with 0 && grep -q "What each word looks at" words.svg'
run view --model captions --picture "$(head -n1 test.names)" --target 'a red circle' --panel time --render given.json
expect "the window reads a given caption" eval 'ended_with 0 && jq -e "[.. | strings] | any(. == \"a red circle\")" given.json'
awk -F'\t' '{split($2, word, " "); printf "{\"text\": \"%s\", \"label\": \"%s\"}\n", $1, word[3]}' shapes/train.tsv >labelled.jsonl
cat >classes.json <<'JSON'
{"task": "classify",
 "model": {"architecture": "encoder", "encoder_layers": 1, "d_model": 16, "max_length": 17,
           "attention": {"heads": 2}, "feed_forward": {"d_ff": 16}, "positions": {"kind": "learned"},
           "input": {"picture": 32, "patch": 8, "class_token": true},
           "output": {"head": "classes", "labels": ["circle", "square", "triangle"]}},
 "data": {"train": {"text": "labelled.jsonl"}}, "tokenizer": {"vocabulary": 768},
 "training": {"steps": 3, "warmup_steps": 1, "source_tokens": 512, "target_tokens": 512, "max_length": 17}}
JSON
run train classes.json --output classes --device cpu
expect "classes are trained" ended_with 0
run classify --model classes --picture "$(head -n1 test.names)" --top 1
expect "and given" grep -qP '^(circle|square|triangle)\t' out
run evaluate --labelled labelled.jsonl --model classes
expect "and evaluated" ended_with 0
jq '.model.input.picture = 30' classes.json >odd.json
run train odd.json --output odd --device cpu
expect "a picture that patches do not fill" refused '"input.picture"' 'must be a multiple of "input.patch"'
jq '(.data.train, .data.valid).target_language = "en"' shapes.json >language.json
run train language.json --data shapes --output language --device cpu
expect "a language's token before pictures" refused 'whose token stands before a text, but "model.input" reads pictures'
jq '.tokenizer.shared = true' shapes.json >shared.json
run train shared.json --data shapes --output shared --device cpu
expect "one vocabulary for pictures and captions" refused '"tokenizer.shared" must be false'

finish "models that read pictures classify and describe them"
