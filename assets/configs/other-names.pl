#!/usr/bin/perl
# other-names.pl WORDS PAIRS.tsv [MORE.tsv ...]: prints the pairs of PAIRS.tsv in which Tom, Mary and John occur equally
# often on both sides, with random names (the same in every run) from WORDS, one word per line, so that a model sees
# thousands of names instead of three. A word is a name if it begins with a capital and none of the given pairs translates
# it; words that end like Ghanaian, Maltese, Finnish and Coptic are left out.
use strict;
use warnings;
die "usage: $0 WORDS PAIRS.tsv [MORE.tsv ...]\n" if @ARGV < 2;
my ($words, @corpora) = @ARGV;
srand(1);

sub pairs_of {
    my ($path) = @_;
    open(my $in, '<', $path) or die "$0: $path: $!\n";
    my @pairs = map { chomp; [split /\t/] } <$in>;
    return grep { @$_ == 2 } @pairs;
}

# Words that have a translation: Monday, English, Germany.
my %translated;
for my $path (@corpora) {
    for my $pair (pairs_of($path)) {
        for my $word ($pair->[0] =~ /\b([A-Z][a-z]+)\b/g) {
            $translated{$word} = 1 unless $pair->[1] =~ /\b$word/;
        }
    }
}
open(my $in, '<', $words) or die "$0: $words: $!\n";
my @names = grep { !$translated{$_} && !/(?:ian|ese|ish|ic)$/ } map { chomp; $_ } grep { /^[A-Z][a-z]{2,}$/ } <$in>;
die "$0: $words has no name: one word a line, names with a capital\n" unless @names;

sub any_name {
    my $name = $names[rand @names];
    return rand() < 0.4 ? "$name $names[rand @names]" : $name;
}

for my $pair (pairs_of($corpora[0])) {
    my ($source, $target) = @$pair;
    my $found = 0;
    for my $known (qw(Tom Mary John)) {
        my $there = () = $source =~ /\b$known\b/g;
        my $here = () = $target =~ /\b${known}s?\b/g;
        next if $there == 0 && $here == 0;
        if ($there != $here) {
            $found = 0;
            last;
        }
        my $name = any_name();
        my $genitive = $name =~ /[sxz]$/ ? "$name\'" : "${name}s";
        $source =~ s/\b$known\b/$name/g;
        $target =~ s/\b${known}s\b/$genitive/g;
        $target =~ s/\b$known\b/$name/g;
        $found = 1;
    }
    print "$source\t$target\n" if $found;
}
