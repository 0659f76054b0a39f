using System.ComponentModel;
using Billing.LocalStack.Processes;

namespace Billing.Rehearsal.Network;

/// <summary>Runs work in another network namespace: sockets that a thread opens there stay there.</summary>
internal static class NetworkNamespace
{
    /// <summary>Runs work on a separate thread that has entered the namespace.</summary>
    /// <param name="work">The work; it must not continue on another thread.</param>
    public static T Run<T>(string path, Func<T> work)
    {
        var entered = new Task<T>(() =>
        {
            NativeMethods.EnterNetworkNamespace(path);
            return work();
        });
        new Thread(() => entered.RunSynchronously()).Start();
        try
        {
            return entered.GetAwaiter().GetResult();
        }
        catch (Win32Exception e)
        {
            throw new StackException($"{e.Message}: {new Win32Exception(e.NativeErrorCode).Message}", e);
        }
    }
}
