CREATE TABLE sheets (
    id        bigint PRIMARY KEY,
    genus     text NOT NULL,
    species   text NOT NULL,
    collector text NOT NULL,
    found_on  date NOT NULL
);
CREATE INDEX sheets_taxon ON sheets (lower(genus), lower(species), id);

CREATE TABLE labels (
    id       bigint PRIMARY KEY,
    sheet_id bigint NOT NULL REFERENCES sheets,
    wrote    text NOT NULL,
    wording  text NOT NULL
);
CREATE INDEX labels_sheet ON labels (sheet_id, id);

INSERT INTO sheets SELECT n, 'Genus' || n % 150, 'species' || n % 1200, 'collector ' || n % 60, date '1890-05-01' + (n % 30000)::int
    FROM generate_series(1, 30000) n;
INSERT INTO labels SELECT n, 1 + n % 30000, 'botanist ' || n % 45, 'det. ' || md5(n::text) || ', on damp meadows by the brook'
    FROM generate_series(1, 60000) n;
ANALYZE;
