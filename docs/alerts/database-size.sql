SELECT MAX(databaseSizeBytes) AS value
FROM states.d1Storage
WHERE accountTag = '<ACCOUNT_ID>'
  AND timestamp >= NOW() - INTERVAL '1' DAY
  AND databaseId = '<DATABASE_ID>'
