<?php
/**
 * A receiver of events in one file without packages, for PHP 8:
 *
 *     DALASI_WEBHOOK_SECRET=wh_… PORT=4000 php examples/receiver.php
 *
 * That starts PHP's own server. Behind a web server it is an ordinary page that is posted to.
 */
declare(strict_types=1);

/** With an empty secret everybody could sign, and with a cut one nothing would verify: start with neither. */
function checkSecret(string $secret): string
{
    if (!preg_match('#^wh_[A-Za-z0-9+/]{32,}={0,2}$#D', $secret)) {
        throw new RuntimeException('The webhook secret is not set, or is not the whole of it: wh_ and at least 32 characters.');
    }
    return $secret;
}

/** $rawBody: file_get_contents('php://input'); $headers: array_change_key_case(getallheaders()). */
function verifyService(string $rawBody, array $headers, string $secret): bool
{
    $expected = hash_hmac('sha512', $rawBody, checkSecret($secret));
    return hash_equals($expected, $headers['x-service-signature'] ?? '');
}

function verifyStandard(string $rawBody, array $headers, string $secret, ?int $now = null): bool
{
    $key = base64_decode(substr(checkSecret($secret), 3));
    $id = $headers['webhook-id'] ?? '';
    $timestamp = $headers['webhook-timestamp'] ?? '';
    if (!preg_match('/^[0-9]{1,12}$/D', $timestamp) || abs(($now ?? time()) - (int) $timestamp) > 300) {
        return false;
    }
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$rawBody", $key, true));
    // During a rotation there are two signatures, separated by a space.
    foreach (explode(' ', $headers['webhook-signature'] ?? '') as $signature) {
        if (hash_equals($expected, $signature)) {
            return true;
        }
    }
    return false;
}

const BODY_BYTES_MAX = 1024 * 1024;
const REMEMBERED = 10000;

/**
 * What to do with a genuine event. The body's id is the header's webhook-id, and both signatures cover it. An event that
 * arrives after a later one still counts: a payment that was partly refunded is paid all the same. Only its record is
 * outdated, and must not overwrite the one you have.
 *
 * PHP forgets everything after a request, so a file remembers. A shop uses its database, in the transaction that does the
 * work: a unique key on the event's id, and the sequence beside the record.
 */
function sortEvent(array $event): string
{
    $file = fopen(sys_get_temp_dir() . '/dalasi-receiver.json', 'c+');
    flock($file, LOCK_EX);
    $kept = json_decode(stream_get_contents($file), true) ?? ['seen' => [], 'newest' => []];
    $id = $event['id'];
    $recordId = $event['data']['id'];
    $newest = $kept['newest'][$recordId] ?? 0;
    if (isset($kept['seen'][$id])) {
        return 'repeated';
    }
    $kept['seen'][$id] = true;
    $kept['newest'][$recordId] = max($newest, $event['sequence']);
    $kept = array_map(fn (array $all) => array_slice($all, -REMEMBERED, null, true), $kept);
    ftruncate($file, 0);
    rewind($file);
    fwrite($file, json_encode($kept));
    fclose($file);
    return $event['sequence'] > $newest ? 'handled' : 'handled (record outdated)';
}

function receive(string $secret): int
{
    if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
        return 405;
    }
    $rawBody = file_get_contents('php://input', false, null, 0, BODY_BYTES_MAX + 1);
    if (strlen($rawBody) > BODY_BYTES_MAX) {
        return 413;
    }
    // One of the two is enough. Standard Webhooks also refuses what is old, and takes either secret during a rotation.
    $verify = getenv('DALASI_SIGNATURE') === 'service' ? 'verifyService' : 'verifyStandard';
    if (!$verify($rawBody, array_change_key_case(getallheaders()), $secret)) {
        return 401;
    }
    // Only now: before the signature is verified, the body is anybody's text.
    $event = json_decode($rawBody, true);
    if (!is_string($event['id'] ?? null) || !is_int($event['sequence'] ?? null) || !is_string($event['data']['id'] ?? null)) {
        return 400;
    }
    // Here a shop stores the event and answers; the work is done afterwards, by something that reads what was stored.
    error_log("{$event['event']} {$event['id']}: " . sortEvent($event));
    return 204;
}

// Another program that includes this file for its functions, such as shop.php, goes on by itself.
if (get_included_files()[0] !== __FILE__) {
    return;
}
if (PHP_SAPI === 'cli') {
    checkSecret((string) getenv('DALASI_WEBHOOK_SECRET'));
    $port = getenv('PORT') === false ? '4000' : getenv('PORT');
    $words = ['-S', "127.0.0.1:$port", __FILE__];
    if (function_exists('pcntl_exec')) {
        pcntl_exec(PHP_BINARY, $words);
    }
    passthru(implode(' ', array_map('escapeshellarg', [PHP_BINARY, ...$words])), $exitCode);
    exit($exitCode);
}
try {
    http_response_code(receive(checkSecret((string) getenv('DALASI_WEBHOOK_SECRET'))));
} catch (RuntimeException $error) {
    error_log($error->getMessage());
    http_response_code(500);
}
