-- A deterministic seed: row i of every table depends on i alone. Orders are
-- spread over time so that the latest of user u is order u + 9 * users.
-- $orders, $users and $banks are replaced before this runs.
INSERT INTO merchants
SELECT m, 'Merchant ' || (ARRAY['Alder','Birch','Cedar','Dogwood','Elm'])[1 + m % 5] || ' ' || m
FROM generate_series(1, 500) AS m;

INSERT INTO banks
SELECT 40000000 + b, (ARRAY['visa','mastercard','amex'])[1 + b % 3],
       'Bank of ' || (ARRAY['Aarhus','Bergen','Cork','Delft','Espoo'])[1 + b % 5] || ' ' || b,
       (ARRAY['DK','NO','IE','NL','FI'])[1 + b % 5]
FROM generate_series(0, $banks - 1) AS b;

INSERT INTO accounts
SELECT u, 'Customer ' || u, '+4912' || lpad((u * 7919 % 10000000)::text, 7, '0'), 'EUR',
       500000000 + u * 13 % 100000, timestamptz '2026-01-01 00:00:00+00'
FROM generate_series(1, $users) AS u;

INSERT INTO orders
SELECT i, (i - 1) % $users + 1, 1 + i % 500, amount, amount * 14 / 1000 + 25, t, t + interval '3 seconds', NULL,
       CASE WHEN i <= $users THEN 'captured' WHEN i % 20 = 0 THEN 'pending' WHEN i % 33 = 0 THEN 'failed' ELSE 'captured' END,
       'EUR', (ARRAY['app','web','pos'])[1 + i % 3],
       (40000000 + i * 31 % $banks)::text || lpad((i % 100000000)::text, 8, '0'),
       '10.' || i % 200 || '.' || i % 250 || '.' || 1 + i % 240, NULL
FROM generate_series(1, $orders) AS i,
     LATERAL (SELECT timestamptz '2026-01-01 00:00:00+00' + i * interval '61.5 seconds' AS t,
                     (SELECT sum((1 + (i + n) % 3) * 100 * (5 + (i * n) % 95)) FROM generate_series(1, 2 + i % 3) AS n)::bigint AS amount) AS made;

INSERT INTO order_items (order_id, sku, name, quantity, unit_price_cents)
SELECT i, 'SKU-' || lpad((i * 37 % 90000)::text, 5, '0') || '-' || n,
       (ARRAY['Travel adapter, universal','Notebook, dotted, A5','Wireless charger, 15 W','Espresso cups, set of 6'])[1 + (i + n) % 4],
       1 + (i + n) % 3, 100 * (5 + (i * n) % 95)
FROM generate_series(1, $orders) AS i, generate_series(1, 2 + i % 3) AS n;

INSERT INTO order_events (order_id, at, kind, actor, note)
SELECT i, timestamptz '2026-01-01 00:00:00+00' + i * interval '61.5 seconds' + n * interval '750 milliseconds',
       (ARRAY['created','authorised','captured','notified'])[n],
       (ARRAY['customer','acquirer','gateway','notifier'])[n],
       (ARRAY['order placed','issuer approved, code ' || lpad((i % 1000000)::text, 6, '0'), 'captured in full', 'merchant told by webhook, attempt 1'])[n]
FROM generate_series(1, $orders) AS i, generate_series(1, 4) AS n;
