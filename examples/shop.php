<?php
/**
 * A shop that sells one book, from the order to "paid". It needs receiver.php beside it, and no packages:
 *
 *     DALASI_SECRET_KEY=sk_test_… DALASI_WEBHOOK_SECRET=wh_… php -S 127.0.0.1:3000 examples/shop.php
 *
 * Then set the endpoint's address to http://localhost:3000/events.
 */
require __DIR__ . '/receiver.php';

/** Throws with the sentence that says what to do, and the request's id for whoever runs the service. */
function callDalasi(string $method, string $path, ?array $body = null, ?string $key = null): array
{
    $headers = ['authorization: Bearer ' . getenv('DALASI_SECRET_KEY'), 'content-type: application/json'];
    if ($key !== null) {
        $headers[] = "idempotency-key: $key";
    }
    $http = ['method' => $method, 'header' => $headers, 'timeout' => 15, 'ignore_errors' => true];
    if ($body !== null) {
        $http['content'] = json_encode($body);
    }
    $url = (getenv('DALASI_URL') ?: 'http://localhost:8080') . $path;
    $text = file_get_contents($url, false, stream_context_create(['http' => $http]));
    $answer = $text === false ? null : json_decode($text, true);
    if ($answer === null || isset($answer['statusCode'])) {
        throw new RuntimeException('Dalasi answered: ' . ($answer['message'] ?? 'nothing') . ' (' . ($answer['request_id'] ?? '') . ')');
    }
    return $answer;
}

const ENDED_UNPAID = ['failed', 'cancelled', 'expired'];

/** Returns the address of the page where the customer pays, the first time or again. Of a paid order it is the order's own. */
function startPayment(string $orderId): string
{
    $status = checkPayment($orderId);
    $order = readOrder($orderId);
    if ($order['is_paid']) {
        return shopUrl() . "/orders/$orderId";
    }
    // A payment that has ended cannot be paid any more: the next attempt needs a new key.
    $isNewAttempt = $order['payment_ids'] === [] || in_array($status, ENDED_UNPAID, true);
    $attempt = count($order['payment_ids']) + ($isNewAttempt ? 1 : 0);
    $data = [
        'amount' => $order['amount'],
        'title' => "Order $orderId",
        'return_url' => shopUrl() . "/orders/$orderId",
        'cancel_url' => shopUrl() . "/orders/$orderId",
        'metadata' => ['order' => $orderId],
    ];
    // With the attempt's key a repetition, after a lost answer or a second click, finds the same payment.
    $payment = callDalasi('POST', '/v1/payments', ['data' => $data], "order-$orderId-$attempt");
    changeOrder($orderId, function (array $order) use ($payment) {
        $ids = [...$order['payment_ids'], $payment['payment_intent_id']];
        return ['payment_ids' => array_values(array_unique($ids))] + $order;
    });
    return $payment['payment_link'];
}

/** Asks Dalasi about the order's newest payment. What stands in the address of the page is anybody's text. */
function checkPayment(string $orderId): string
{
    $paymentIds = readOrder($orderId)['payment_ids'];
    if ($paymentIds === []) {
        return 'requires_payment_method';
    }
    $payment = callDalasi('GET', '/v1/payments/' . end($paymentIds));
    if ($payment['status'] === 'successful') {
        markPaid($orderId, $payment);
    }
    return $payment['status'];
}

/** What a verified event says of an order. The same event twice, or one that comes late, changes nothing more. */
function handleEvent(array $event): void
{
    $orderId = $event['data']['metadata']['order'] ?? '';
    $order = readOrder($orderId);
    if ($event['event'] !== 'charge.succeeded' || $order === null) {
        return;
    }
    // Of any attempt: a payment that was cancelled can still turn out to be paid.
    if (in_array($event['data']['payment_intent_id'], $order['payment_ids'], true)) {
        markPaid($orderId, $event['data']);
    }
}

function markPaid(string $orderId, array $paid): void
{
    changeOrder($orderId, function (array $order) use ($orderId, $paid) {
        if ($order['is_paid'] || $paid['amount'] != $order['amount'] || $paid['currency'] !== 'GMD') {
            return $order;
        }
        error_log("paid $orderId");
        return ['is_paid' => true] + $order;
    });
}

/** A shop keeps its orders in a database. PHP forgets everything after a request, so here a file remembers. */
function changeOrder(string $orderId, callable $change, ?array $new = null): ?array
{
    $file = fopen(sys_get_temp_dir() . '/dalasi-shop.json', 'c+');
    flock($file, LOCK_EX);
    $orders = json_decode(stream_get_contents($file), true) ?? [];
    $order = $orders[$orderId] ?? $new;
    if ($order !== null) {
        $orders[$orderId] = $order = $change($order);
        ftruncate($file, 0);
        rewind($file);
        fwrite($file, json_encode($orders));
    }
    fclose($file);
    return $order;
}

function readOrder(string $orderId): ?array
{
    return changeOrder($orderId, fn (array $order) => $order);
}

function shopUrl(): string
{
    return getenv('SHOP_URL') ?: 'http://' . $_SERVER['HTTP_HOST'];
}

function answer(): void
{
    $path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
    $isPost = $_SERVER['REQUEST_METHOD'] === 'POST';
    if ($isPost && $path === '/orders') {
        $orderId = bin2hex(random_bytes(16));
        changeOrder($orderId, fn (array $order) => $order, ['amount' => 450, 'payment_ids' => [], 'is_paid' => false]);
        header('location: ' . startPayment($orderId), true, 303);
    } elseif ($isPost && preg_match('#^/orders/([\w-]+)/pay$#D', $path, $found) && readOrder($found[1]) !== null) {
        header('location: ' . startPayment($found[1]), true, 303);
    } elseif ($isPost && $path === '/events') {
        $rawBody = file_get_contents('php://input', false, null, 0, BODY_BYTES_MAX);
        $headers = array_change_key_case(getallheaders());
        $isGenuine = verifyStandard($rawBody, $headers, (string) getenv('DALASI_WEBHOOK_SECRET'));
        if ($isGenuine) {
            handleEvent(json_decode($rawBody, true));
        }
        http_response_code($isGenuine ? 204 : 401);
    } elseif (preg_match('#^/orders/([\w-]+)(?:/pay)?$#D', $path, $found)) {
        showOrder($found[1]);
    } else {
        echo '<!doctype html><form method="post" action="/orders"><button>Buy the book for D450</button></form>';
    }
}

function showOrder(string $orderId): void
{
    $order = readOrder($orderId);
    if ($order === null) {
        http_response_code(404);
        echo '<!doctype html><p>There is no such order.</p>';
        return;
    }
    $status = $order['is_paid'] ? 'successful' : checkPayment($orderId);
    if (readOrder($orderId)['is_paid']) {
        echo '<!doctype html><p>Thank you, your order is paid.</p>';
        return;
    }
    echo "<!doctype html><p>Your order is not paid yet: $status.</p>";
    if (in_array($status, ENDED_UNPAID, true)) {
        echo "<form method=\"post\" action=\"/orders/$orderId/pay\"><button>Pay again</button></form>";
    }
}

try {
    checkSecret((string) getenv('DALASI_WEBHOOK_SECRET'));
    answer();
} catch (RuntimeException $error) {
    error_log($error->getMessage());
    http_response_code(500);
    echo '<!doctype html><p>Something went wrong here. If you have paid, do not pay again: open this page once more in a minute.</p>';
}
