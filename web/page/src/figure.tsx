// Figure is one of the figures below a headline.
export function Figure({ name, value, note, bad }: { name: string; value: string; note?: string; bad?: boolean }) {
  return (
    <div class={bad ? "bad" : ""}>
      <dt>{name}</dt>
      <dd>{value}{note && <small>{note}</small>}</dd>
    </div>
  );
}
