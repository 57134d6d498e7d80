CREATE TABLE members (
  id     INTEGER PRIMARY KEY,
  email  TEXT NOT NULL,
  name   TEXT NOT NULL,
  grade  INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX members_email ON members (email);

CREATE TABLE bookings (
  id         INTEGER PRIMARY KEY,
  court_id   INTEGER NOT NULL,
  member_id  INTEGER NOT NULL REFERENCES members (id),
  starts_at  TEXT NOT NULL,
  minutes    INTEGER NOT NULL,
  state      TEXT NOT NULL,
  note       TEXT
);
CREATE INDEX bookings_starts ON bookings (starts_at);
CREATE INDEX bookings_member ON bookings (member_id, starts_at);
