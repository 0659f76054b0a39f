using Billing.Proxy;
using Billing.Proxy.Limits;

namespace Billing.UnitTests.Proxy;

public sealed class StreamPlacesTests : IDisposable
{
    // Half of the places are for streams, and half of those for a single caller.
    private readonly Admission _admission = Admissions.With(new ProxyOptions { InFlightMax = 16, StreamPercent = 50 });

    public void Dispose() => _admission.Dispose();

    [Fact]
    public async Task An_open_stream_has_one_place_and_takes_more_for_its_payments()
    {
        var places = new StreamPlaces(_admission, Admissions.Caller, window: 3);
        Assert.Equal(1, _admission.InFlight);
        await places.TakeAsync(CancellationToken.None);
        Assert.Equal(1, _admission.InFlight);
        await places.TakeAsync(CancellationToken.None);
        await places.TakeAsync(CancellationToken.None);
        Assert.Equal((3, 3), (places.Held, _admission.InFlight));
        places.Release(2);
        Assert.Equal((1, 1), (places.Held, _admission.InFlight));
        places.Release(1);
        Assert.Equal((0, 1), (places.Held, _admission.InFlight));
        places.Dispose();
        Assert.Equal((0, 0), (_admission.InFlight, _admission.OfStreams));
    }

    [Fact]
    public async Task A_closed_stream_has_only_the_places_of_its_payments_and_releases_each_of_them()
    {
        var places = new StreamPlaces(_admission, Admissions.Caller, window: 3);
        await places.TakeAsync(CancellationToken.None);
        await places.TakeAsync(CancellationToken.None);
        places.Dispose();
        Assert.Equal((2, 2), (_admission.InFlight, _admission.OfStreams));
        places.Release(1);
        Assert.Equal(1, _admission.InFlight);
        places.Release(1);
        Assert.Equal((0, 0), (_admission.InFlight, _admission.OfStreams));
    }

    [Theory]
    [InlineData(2, 100)]
    [InlineData(4, 4)]
    public async Task Above_its_window_or_the_share_a_stream_waits_until_one_of_its_own_places_is_released(
        int window, int share)
    {
        using var places = new StreamPlaces(_admission, Admissions.Caller, window);
        var full = Math.Min(window, share);
        for (var i = 0; i < full; i++)
        {
            await places.TakeAsync(CancellationToken.None);
        }

        var next = places.TakeAsync(CancellationToken.None).AsTask();
        Assert.False(next.IsCompleted);
        places.Release(1);
        await next;

        Assert.Equal(full, places.Held);
        Assert.Equal(full, _admission.InFlight);
    }

    [Fact]
    public async Task Waiting_for_a_place_can_be_cancelled()
    {
        using var places = new StreamPlaces(_admission, Admissions.Caller, window: 1);
        await places.TakeAsync(CancellationToken.None);
        using var cancellation = new CancellationTokenSource();

        var next = places.TakeAsync(cancellation.Token).AsTask();
        await cancellation.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => next);
        Assert.Equal(1, _admission.InFlight);
    }

    [Fact]
    public async Task Growing_streams_stay_within_their_share_and_free_all_places()
    {
        var most = 0;
        // All are opened before any grows: a stream opened later would be refused if the share were used up.
        var streams = Enumerable.Range(0, 3)
            .Select(_ => new StreamPlaces(_admission, Admissions.Caller, window: 4)).ToList();
        await Task.WhenAll(streams.Select(stream => Task.Run(async () =>
        {
            using var places = stream;
            for (var i = 0; i < 2_000; i++)
            {
                var taken = places.TakeAsync(CancellationToken.None);
                if (!taken.IsCompleted)
                {
                    // All of them: another stream might take a single released place first.
                    places.Release(places.Held);
                }
                await taken;
                var now = _admission.InFlight;
                if (now > Volatile.Read(ref most))
                {
                    Volatile.Write(ref most, now);
                }
                if (places.Held > i % 3)
                {
                    places.Release(places.Held);
                }
            }
            places.Release(places.Held);
        })));

        Assert.InRange(most, 1, 4);
        Assert.Equal((0, 0), (_admission.InFlight, _admission.OfStreams));
    }
}
