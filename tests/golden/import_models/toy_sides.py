"""Both sides of the toy task as ids: SentencePiece models and vocabularies of their own."""
from . import toy


class Side:
    """One side: pieces come from a SentencePiece model, ids from a list of pieces."""

    def __init__(self, model, pieces, end=True):
        self.model, self.pieces, self.end = model, pieces, end
        self.spm = toy.processor(model)
        self.id_of = {piece: i for i, piece in enumerate(pieces)}

    def split(self, text):
        return self.spm.encode(text, out_type=str)

    def ids(self, text):
        found = [self.id_of.get(piece, self.id_of["<unk>"]) for piece in self.split(text)]
        return found + [self.id_of["</s>"]] if self.end else found

    def text(self, ids):
        return toy.join(self.pieces[i] for i in ids)

    def pieces_of(self, ids):
        return " ".join(self.pieces[i] for i in ids if self.pieces[i] != "</s>")


def sides(specials, shared=False, behind=(), source_end=True, specials_in_model=False):
    """A source and a target side. Vocabularies are `specials`, the pieces and `behind`."""
    texts = [[pair[side] for pair in toy.PAIRS] for side in (0, 1)]
    if shared:
        texts = [texts[0] + texts[1]] * 2
    found = []
    for side in (0, 1):
        model = toy.train_sentencepiece(texts[side], 46 if shared or side == 0 else 40)
        if specials_in_model:
            model = toy.train_sentencepiece(texts[side], 46, eos_id=0, unk_id=1, bos_id=-1)
        vocabulary = [*specials, *toy.pieces_of(model), *behind]
        found.append(Side(model, vocabulary, source_end or side == 1))
    return found


def id_pairs(source, target):
    return [(source.ids(one), target.ids(other)) for one, other in toy.PAIRS]
