SELECT COUNT(*) AS value
FROM logs.workersLogs
WHERE accountTag = '<ACCOUNT_ID>'
  AND timestamp >= NOW() - INTERVAL '1' HOUR
  AND scriptName = 'animal-store-production'
  AND attributes['task'] = 'sweep idempotency keys'
  AND attributes['finished'] = TRUE
