SELECT COUNT(*) AS value
FROM logs.workersLogs
WHERE accountTag = '<ACCOUNT_ID>'
  AND scriptName = 'animal-store-production'
  AND (attributes['status'] = 500
    OR (attributes['status'] = 503 AND attributes['cause'] != ''))
