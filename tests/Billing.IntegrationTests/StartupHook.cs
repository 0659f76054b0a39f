using System.Diagnostics;
using Billing.Messaging;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

/// <summary>Plants an exception in a service of the platform, from outside of it: the runtime calls this before the program's
/// own start where <c>DOTNET_STARTUP_HOOKS</c> names this assembly, and every host tells of its being built. The handler of
/// commands then throws at commands of accounts that begin with <see cref="PoisonAccounts"/>: in the consumer's loop, where nothing expects it.</summary>
#pragma warning disable CA1050 // The runtime looks for this type without a namespace.
internal static class StartupHook
#pragma warning restore CA1050
{
    public const string PoisonAccounts = "planted-exception-";

    public static void Initialize() => DiagnosticListener.AllListeners.Subscribe(new Listeners());

    private sealed class Listeners : IObserver<DiagnosticListener>
    {
        public void OnNext(DiagnosticListener value)
        {
            if (value.Name == "Microsoft.Extensions.Hosting")
            {
                value.Subscribe(new Hosts());
            }
        }

        public void OnCompleted()
        {
        }

        public void OnError(Exception error)
        {
        }
    }

    private sealed class Hosts : IObserver<KeyValuePair<string, object?>>
    {
        public void OnNext(KeyValuePair<string, object?> value)
        {
            if (value.Key == "HostBuilding" && value.Value is IHostBuilder builder)
            {
                builder.ConfigureServices(Plant);
            }
        }

        public void OnCompleted()
        {
        }

        public void OnError(Exception error)
        {
        }

        private static void Plant(IServiceCollection services)
        {
            var sound = services.Last(service => service.ServiceType == typeof(ICommandHandler));
            services.AddSingleton<ICommandHandler>(provider => new Throwing((ICommandHandler)sound.ImplementationFactory!(provider)));
        }
    }

    private sealed class Throwing(ICommandHandler sound) : ICommandHandler
    {
        public int InFlight => sound.InFlight;

        public void Accept(IReadOnlyList<Delivery> deliveries)
        {
            if (deliveries.Any(delivery => CommandRoute.Of(delivery.Command).AccountId.StartsWith(PoisonAccounts, StringComparison.Ordinal)))
            {
                throw new InvalidCastException("planted");
            }
            sound.Accept(deliveries);
        }

        public void Forget(IReadOnlyCollection<SourcePartition> partitions) => sound.Forget(partitions);
    }
}
