// Names of Go are long and have no spaces: where one does not fit in a line, it breaks behind a / or . or ) rather than
// within a word.

const breaks = /(?<=[/)\],])(?=[^\s)\],])|(?<=\.)(?=[^\s.])(?!go\b)|(?<=\w)(?=[([])/;

export function Name({ text }: { text: string }) {
  return <>{text.split(breaks).flatMap((part, i) => (i > 0 ? [<wbr key={i} />, part] : [part]))}</>;
}

export function Code({ text }: { text: string }) {
  return <code><Name text={text} /></code>;
}
