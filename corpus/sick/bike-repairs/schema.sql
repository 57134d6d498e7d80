CREATE TABLE customers (
    id    bigint PRIMARY KEY,
    name  text NOT NULL,
    phone text NOT NULL
);

CREATE TABLE jobs (
    id          bigint PRIMARY KEY,
    customer_id bigint NOT NULL REFERENCES customers,
    frame       text NOT NULL,
    status      text NOT NULL DEFAULT 'open',
    taken_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX jobs_customer ON jobs (customer_id);
CREATE INDEX jobs_open ON jobs (taken_at) WHERE status = 'open';

CREATE TABLE job_lines (
    id       bigint PRIMARY KEY,
    job_id   bigint NOT NULL REFERENCES jobs ON DELETE CASCADE,
    label    text NOT NULL,
    quantity int NOT NULL,
    cents    bigint NOT NULL
);
